package org.stele.core.cursor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.KeyCodec;

/** Reads cursors for tests. */
public final class Cursors {
  private Cursors() {}

  public static byte[] key(CellCursor cursor) {
    return Arrays.copyOfRange(
        cursor.keyArray(), cursor.keyOffset(), cursor.keyOffset() + cursor.keyLength());
  }

  public static Bytes value(CellCursor cursor) {
    return Bytes.of(cursor.valueArray(), cursor.valueOffset(), cursor.valueLength());
  }

  /** The cell the cursor stands on, whatever its type. */
  public static CellModel.Entry entry(CellCursor cursor) {
    KeyCodec.DecodedKey key =
        KeyCodec.decode(cursor.keyArray(), cursor.keyOffset(), cursor.keyLength());
    return new CellModel.Entry(
        key.row(),
        key.family(),
        key.qualifier(),
        key.visibility(),
        key.timestamp(),
        key.sequence(),
        key.type(),
        value(cursor));
  }

  public static Cell cell(CellCursor cursor) {
    CellModel.Entry entry = entry(cursor);
    return new Cell(
        entry.row(),
        entry.family(),
        entry.qualifier(),
        entry.visibility(),
        entry.timestamp(),
        entry.value());
  }

  /** All cells from {@code from} on. */
  public static List<Cell> cells(CellCursor cursor, byte[] from) throws IOException {
    List<Cell> cells = new ArrayList<>();
    for (cursor.seek(from); cursor.isValid(); cursor.next()) {
      cells.add(cell(cursor));
    }
    return cells;
  }

  /** All entries, deletes among them. */
  public static List<CellModel.Entry> entries(CellCursor cursor) throws IOException {
    List<CellModel.Entry> entries = new ArrayList<>();
    for (cursor.seek(new byte[0]); cursor.isValid(); cursor.next()) {
      entries.add(entry(cursor));
    }
    return entries;
  }
}
