package org.stele.core.data;

/**
 * What a stored cell is. The code is the last byte of an encoded key; codes never change their
 * meaning.
 *
 * <p>A delete hides the cells in its scope that have its timestamp or an older one and a lower
 * sequence: only what was written before it.
 */
public enum CellType {
  PUT(1),
  /** One cell: exactly its timestamp. Reserved. */
  DELETE_CELL(2),
  /** All cells of one column: same row, family, qualifier and visibility. */
  DELETE_COLUMN(3),
  /** All cells of a family of a row. */
  DELETE_FAMILY(4),
  /** All cells of a row. */
  DELETE_ROW(5);

  private static final CellType[] BY_CODE = {
    null, PUT, DELETE_CELL, DELETE_COLUMN, DELETE_FAMILY, DELETE_ROW
  };

  private final byte code;

  CellType(int code) {
    this.code = (byte) code;
  }

  public byte code() {
    return code;
  }

  /**
   * The type with this code.
   *
   * @throws MalformedBytesException if there is none
   */
  public static CellType ofCode(int code) {
    if (code <= 0 || code >= BY_CODE.length) {
      throw new MalformedBytesException("unknown cell type " + code);
    }
    return BY_CODE[code];
  }
}
