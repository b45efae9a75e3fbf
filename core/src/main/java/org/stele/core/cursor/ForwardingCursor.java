package org.stele.core.cursor;

/** A cursor whose cell is that of its source. */
abstract class ForwardingCursor implements CellCursor {
  CellCursor source;

  ForwardingCursor(CellCursor source) {
    this.source = source;
  }

  @Override
  public final byte[] keyArray() {
    return source.keyArray();
  }

  @Override
  public final int keyOffset() {
    return source.keyOffset();
  }

  @Override
  public final int keyLength() {
    return source.keyLength();
  }

  @Override
  public final byte[] valueArray() {
    return source.valueArray();
  }

  @Override
  public final int valueOffset() {
    return source.valueOffset();
  }

  @Override
  public final int valueLength() {
    return source.valueLength();
  }

  @Override
  public void close() {
    source.close();
  }
}
