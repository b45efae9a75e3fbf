package org.stele.server.metadata;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Row;

/** Reading columns of metadata rows. */
final class Columns {
  private Columns() {}

  static Bytes qualifier(Column column) {
    return requireNonNull(column.qualifier(), "the column has no qualifier");
  }

  static @Nullable Bytes get(Row row, Column column) {
    return row.get(column.family(), qualifier(column));
  }

  static Bytes require(Row row, Column column) {
    Bytes value = get(row, column);
    if (value == null) {
      throw new MalformedBytesException("metadata row " + row.key() + " has no column " + column);
    }
    return value;
  }

  static Bytes of(long number) {
    byte[] bytes = new byte[8];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (number >>> 56 - 8 * i);
    }
    return Bytes.wrap(bytes);
  }

  /** The number of 8 bytes; 0 if there is none. */
  static long number(Row row, Column column) {
    Bytes value = get(row, column);
    if (value == null) {
      return 0;
    }
    if (value.length() != 8) {
      throw new MalformedBytesException(
          "metadata row "
              + row.key()
              + ": column "
              + column
              + " has "
              + value.length()
              + " bytes, not 8");
    }
    long number = 0;
    for (int i = 0; i < 8; i++) {
      number = number << 8 | value.at(i) & 0xff;
    }
    return number;
  }

  /** The decimal number; {@code otherwise} if there is none. */
  static int decimal(Row row, Column column, int otherwise) {
    Bytes value = get(row, column);
    try {
      return value == null ? otherwise : Integer.parseInt(value.toUtf8());
    } catch (NumberFormatException e) {
      throw new MalformedBytesException(
          "metadata row " + row.key() + ": column " + column + " is no number: " + value);
    }
  }
}
