package org.stele.core.coordination;

import java.util.Collections;
import java.util.Comparator;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.MalformedBytesException;

/**
 * What node {@code /root} holds: the metadata tablet's own row, with the same columns and rules as
 * the rows of the metadata table. Immutable.
 *
 * <pre>
 *   root    = format (1 byte, 01) required features (4) count (varint) column* crc32c of all before (4)
 *   column  = family qualifier value, each: length (varint) bytes
 * </pre>
 *
 * @param columns in order; every column has a qualifier
 */
public record RootRecord(SortedMap<Column, Bytes> columns) {
  private static final int FORMAT = 1;
  private static final int CHECKSUM_BYTES = 4;
  private static final Comparator<Column> ORDER =
      Comparator.comparing((Column column) -> column.family())
          .thenComparing(Column::qualifier, Comparator.nullsFirst(Comparator.naturalOrder()));

  public RootRecord {
    SortedMap<Column, Bytes> copy = new TreeMap<>(ORDER);
    columns.forEach(
        (column, value) -> {
          if (column.qualifier() == null) {
            throw new IllegalArgumentException("column " + column + " has no qualifier");
          }
          copy.put(column, value);
        });
    columns = Collections.unmodifiableSortedMap(copy);
  }

  /** A map for columns, in their order, to fill and make a record of. */
  public static SortedMap<Column, Bytes> emptyColumns() {
    return new TreeMap<>(ORDER);
  }

  byte[] encode() {
    ByteWriter out = new ByteWriter(1024);
    out.writeByte(FORMAT).writeInt(0).writeVarint(columns.size());
    columns.forEach(
        (column, value) -> {
          out.writeByteString(column.family().unsafeArray());
          out.writeByteString(qualifier(column).unsafeArray());
          out.writeByteString(value.unsafeArray());
        });
    out.writeInt(checksum(out.array(), out.length()));
    return NodeSize.checked("root", out.toByteArray());
  }

  static RootRecord decode(String path, byte[] bytes) {
    try {
      int body = bytes.length - CHECKSUM_BYTES;
      ByteReader in = new ByteReader(bytes, 0, Math.max(0, body));
      int format = in.readUnsignedByte();
      int features = in.readInt();
      if (format != FORMAT || features != 0) {
        throw NodeText.malformed(
            path,
            "has format "
                + format
                + " with features "
                + Integer.toHexString(features)
                + ", this release reads format "
                + FORMAT
                + " without any");
      }
      if (new ByteReader(bytes, body, CHECKSUM_BYTES).readInt() != checksum(bytes, body)) {
        throw NodeText.malformed(path, "has a wrong checksum");
      }
      int count = in.readVarint();
      SortedMap<Column, Bytes> columns = emptyColumns();
      for (int i = 0; i < count; i++) {
        Column column =
            new Column(Bytes.wrap(in.readByteString()), Bytes.wrap(in.readByteString()));
        columns.put(column, Bytes.wrap(in.readByteString()));
      }
      return new RootRecord(columns);
    } catch (MalformedBytesException e) {
      throw NodeText.malformed(path, "is damaged: " + e.getMessage());
    }
  }

  private static Bytes qualifier(Column column) {
    Bytes qualifier = column.qualifier();
    if (qualifier == null) {
      throw new IllegalStateException("column " + column + " has no qualifier");
    }
    return qualifier;
  }

  private static int checksum(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
