package org.stele.peers.hbase;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.stele.peers.harness.Harness;
import org.stele.peers.harness.Options;

/**
 * The client process. Arguments: DIRECTORY SCENARIO [key=value]...
 *
 * <p>Beside those of the scenarios there are {@code retries=N} and {@code connections=N} of the
 * client, and the scenario {@code await}, which returns when the server answers.
 */
public final class HBaseBench {
  private HBaseBench() {}

  public static void main(String[] args) throws Exception {
    List<String> words = Arrays.asList(args);
    Options options = new Options(words.subList(2, words.size()));
    if (args[1].equals("await")) {
      HBaseStore.awaitServer(options.number("seconds", 150));
    } else {
      try (HBaseStore store =
          HBaseStore.connect(options.number("connections", 1), options.number("retries", -1))) {
        Harness.run("hbase", store, new ServerProcess(Path.of(args[0])), args[1], options);
      }
    }
    System.exit(0);
  }
}
