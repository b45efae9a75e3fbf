package org.stele.client.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;

/** The table of docs/errors.md is that of {@link ErrorCode}. */
class ErrorTableTest {
  @Test
  void documentedTableIsTheOneInForce() throws IOException {
    List<String> documented = new ArrayList<>();
    Path page =
        Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../docs/errors.md");
    for (String line : Files.readAllLines(page)) {
      String[] cells = line.split("\\|", -1);
      if (cells.length == 8 && cells[2].trim().matches("\\d+")) {
        documented.add(
            cells[1].trim()
                + " "
                + cells[2].trim()
                + " "
                + cells[4].trim()
                + " "
                + cells[5].trim());
      }
    }
    List<String> actual = new ArrayList<>();
    for (ErrorCode code : ErrorCode.values()) {
      actual.add(
          code
              + " "
              + code.number()
              + (code.retry() == ErrorCode.Retry.WITH_BACKOFF ? " with backoff" : " no")
              + (code.refreshesLocation() ? " yes" : " no"));
    }
    assertEquals(actual, documented);
  }
}
