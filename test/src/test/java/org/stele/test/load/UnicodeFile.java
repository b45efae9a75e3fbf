package org.stele.test.load;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Real data of more than 100,000 rows that every JVM carries: the assigned code points of Unicode,
 * as a TSV file.
 */
public final class UnicodeFile {
  private UnicodeFile() {}

  /**
   * Writes the file: columns codepoint, name, category, script, with a header line.
   *
   * @return how many rows it has, without the header
   */
  public static int write(Path file) throws IOException {
    int rows = 0;
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      out.write("codepoint\tname\tcategory\tscript\n");
      for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
        int category = Character.getType(point);
        if (category == Character.UNASSIGNED
            || category == Character.PRIVATE_USE
            || category == Character.SURROGATE) {
          continue;
        }
        out.write(
            String.format(
                "%06X\t%s\t%d\t%s%n",
                point, Character.getName(point), category, Character.UnicodeScript.of(point)));
        rows++;
      }
    }
    return rows;
  }
}
