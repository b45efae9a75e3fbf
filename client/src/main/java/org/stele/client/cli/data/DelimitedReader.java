package org.stele.client.cli.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.Notation;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;

/**
 * Reads a csv or tsv file: the header names columns, each line is a row, one field is its key.
 *
 * <p>Fields are taken byte for byte, whatever their encoding. In csv a field may stand in double
 * quotes and then hold commas, line ends and doubled quotes (RFC 4180); in tsv quotes are plain
 * characters. An empty field is an empty value. Empty lines are passed over.
 */
final class DelimitedReader implements RecordReader {
  /** How fields are separated. */
  enum Delimiter {
    CSV,
    TSV
  }

  private final CSVParser parser;
  private final Iterator<CSVRecord> records;
  private final Function<String, Bytes> fieldReader;
  private final List<Column> columns;
  private final int keyIndex;
  private boolean broken;

  /**
   * Reads the header.
   *
   * @param header names in place of a header line, or null
   * @param keyColumn the column that is the row; null: the first
   * @param family of columns whose name has none
   * @param escapes fields are written in {@link Notation#ESCAPED}, not as plain bytes
   * @throws CommandFailure if there is no header, or it has not what it should
   */
  DelimitedReader(
      InputStream in,
      Delimiter delimiter,
      @Nullable List<String> header,
      @Nullable String keyColumn,
      String family,
      boolean escapes)
      throws IOException {
    // Latin-1 makes each byte a character, and each character a byte again.
    parser = CSVParser.parse(new InputStreamReader(withoutMark(in), ISO_8859_1), format(delimiter));
    records = parser.iterator();
    fieldReader = escapes ? DelimitedReader::unescape : DelimitedReader::plain;
    List<String> names = header != null ? header : readHeader();
    keyIndex = keyColumn == null ? 0 : indexOf(names, keyColumn);
    columns = columns(names, family);
  }

  private static CSVFormat format(Delimiter delimiter) {
    CSVFormat.Builder builder = CSVFormat.DEFAULT.builder().setIgnoreEmptyLines(true);
    return switch (delimiter) {
      case CSV -> builder.get();
      case TSV -> builder.setDelimiter('\t').setQuote(null).get();
    };
  }

  @Override
  public @Nullable Mutation next() throws IOException, BadLineException {
    CSVRecord record = nextRecord();
    if (record == null) {
      return null;
    }
    long line = parser.getCurrentLineNumber();
    if (record.size() != columns.size()) {
      throw new BadLineException(
          line, record.size() + " fields, and the header names " + columns.size());
    }
    try {
      return mutation(record);
    } catch (IllegalArgumentException e) {
      throw new BadLineException(line, e.getMessage());
    }
  }

  private Mutation mutation(CSVRecord record) {
    Mutation mutation = Mutation.of(fieldReader.apply(record.get(keyIndex)));
    for (int i = 0; i < columns.size(); i++) {
      if (i != keyIndex) {
        Column column = columns.get(i);
        mutation.put(
            column.family(),
            Objects.requireNonNull(column.qualifier()),
            fieldReader.apply(record.get(i)));
      }
    }
    return mutation;
  }

  private @Nullable CSVRecord nextRecord() throws IOException, BadLineException {
    if (broken) {
      return null;
    }
    try {
      return records.hasNext() ? records.next() : null;
    } catch (UncheckedIOException | IllegalStateException e) {
      // Where quotes do not match, nobody knows where the next line begins.
      broken = true;
      throw new BadLineException(
          parser.getCurrentLineNumber(),
          "malformed, so that the rest of the file cannot be read: " + reason(e));
    }
  }

  private static @Nullable String reason(RuntimeException e) {
    return e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
  }

  private List<String> readHeader() throws IOException {
    CSVRecord record;
    try {
      record = nextRecord();
    } catch (BadLineException e) {
      throw new CommandFailure("the header cannot be read: " + e.getMessage(), e);
    }
    if (record == null) {
      throw new CommandFailure("the file is empty: it needs a header line that names the columns");
    }
    List<String> names = new ArrayList<>();
    for (String field : record) {
      names.add(new String(field.getBytes(ISO_8859_1), UTF_8));
    }
    return names;
  }

  private static int indexOf(List<String> names, String keyColumn) {
    int index = names.indexOf(keyColumn);
    if (index < 0) {
      throw new CommandFailure(
          "there is no column '" + keyColumn + "': the header names " + String.join(", ", names));
    }
    return index;
  }

  private static List<Column> columns(List<String> names, String family) {
    Set<Column> columns = new LinkedHashSet<>();
    for (String name : names) {
      int colon = name.indexOf(':');
      Column column =
          colon < 0
              ? Column.of(family, name)
              : Column.of(name.substring(0, colon), name.substring(colon + 1));
      if (!columns.add(column)) {
        throw new CommandFailure("the header names column '" + name + "' twice");
      }
    }
    return List.copyOf(columns);
  }

  /** Passes over the byte order mark that some programs put in front of UTF-8. */
  private static InputStream withoutMark(InputStream in) throws IOException {
    PushbackInputStream stream = new PushbackInputStream(in, 3);
    byte[] start = stream.readNBytes(3);
    boolean mark =
        start.length == 3
            && (start[0] & 0xff) == 0xef
            && (start[1] & 0xff) == 0xbb
            && (start[2] & 0xff) == 0xbf;
    if (!mark) {
      stream.unread(start);
    }
    return stream;
  }

  private static Bytes plain(String field) {
    return Bytes.wrap(field.getBytes(ISO_8859_1));
  }

  private static Bytes unescape(String field) {
    return Notation.ESCAPED.parse(new String(field.getBytes(ISO_8859_1), UTF_8));
  }

  @Override
  public void close() throws IOException {
    parser.close();
  }
}
