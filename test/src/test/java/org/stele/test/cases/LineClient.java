package org.stele.test.cases;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.SteleException;
import org.stele.core.net.TlsOptions;

/**
 * A program that connects, and then writes, looks up and scans the row that each line of its input
 * names, and says what became of that in one line. Its arguments are ZooKeeper, the deadline in
 * seconds, and, with TLS, the file of certificates to trust.
 */
final class LineClient {
  static final String TABLE = "lines";
  static final String CONNECTED = "connected";
  static final String DONE = "done: ";
  static final String FAILED = "failed: ";

  private LineClient() {}

  public static void main(String[] arguments) throws IOException {
    ClientOptions options =
        ClientOptions.defaults().withDeadline(Duration.ofSeconds(Long.parseLong(arguments[1])));
    if (arguments.length > 2) {
      options = options.withTls(TlsOptions.defaults().withTrust(Path.of(arguments[2])));
    }
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (SteleClient client = SteleClient.connect(arguments[0], options)) {
      System.out.println(CONNECTED);
      for (String row = lines.readLine(); row != null; row = lines.readLine()) {
        client.write(TABLE, Mutation.of(row).put("f", "q", "value of " + row));
        String found = client.lookup(TABLE, row).get("f", "q");
        try (Scanner scanner = client.scanner(TABLE).range(Range.row(row)).open()) {
          String scanned = scanner.iterator().next().value().toUtf8();
          System.out.println(DONE + row + ", " + found + ", " + scanned);
        }
      }
    } catch (SteleException e) {
      System.out.println(FAILED + e.getMessage());
    }
  }
}
