package org.stele.client.cli.data;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.Notation;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;

/**
 * Reads what {@code stele scan} and {@code stele lookup} print: one cell on a line, in the short
 * form (row, column, value) or the long one (row, column, visibility, timestamp, value). Each cell
 * becomes a mutation.
 */
final class CellsReader implements RecordReader {
  private final BufferedReader lines;
  private final Notation notation;
  private long lineNumber;

  CellsReader(InputStream in, Notation notation) {
    this.lines = new BufferedReader(new InputStreamReader(in, UTF_8));
    this.notation = notation;
  }

  @Override
  public @Nullable Mutation next() throws IOException, BadLineException {
    String line = lines.readLine();
    if (line == null) {
      return null;
    }
    lineNumber++;
    try {
      return mutation(line.split("\t", -1));
    } catch (IllegalArgumentException e) {
      throw new BadLineException(lineNumber, e.getMessage());
    }
  }

  private Mutation mutation(String[] fields) {
    boolean longForm = fields.length == 5;
    if (!longForm && fields.length != 3) {
      throw new IllegalArgumentException(
          fields.length + " fields: a cell has 3, or 5 with visibility and timestamp");
    }
    Column column = notation.parseColumn(fields[1]);
    Bytes qualifier = column.qualifier();
    if (qualifier == null) {
      throw new IllegalArgumentException(
          "'" + fields[1] + "' is not FAMILY:QUALIFIER: the colon is missing");
    }
    return Mutation.of(notation.parse(fields[0]))
        .put(
            column.family(),
            qualifier,
            longForm ? notation.parse(fields[2]) : Bytes.EMPTY,
            longForm ? timestamp(fields[3]) : null,
            notation.parse(fields[fields.length - 1]));
  }

  private static Long timestamp(String field) {
    try {
      return Long.valueOf(field);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + field + "' is not a timestamp", e);
    }
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
