package org.stele.core.cursor;

import java.util.NoSuchElementException;

/** A cursor over nothing. Thread-safe. */
public enum EmptyCursor implements CellCursor {
  INSTANCE;

  @Override
  public void seek(byte[] key) {}

  @Override
  public void seekBefore(byte[] key) {}

  @Override
  public boolean isValid() {
    return false;
  }

  @Override
  public void next() {
    throw new NoSuchElementException("an empty cursor stands on no cell");
  }

  @Override
  public byte[] keyArray() {
    throw new NoSuchElementException("an empty cursor stands on no cell");
  }

  @Override
  public int keyOffset() {
    return 0;
  }

  @Override
  public int keyLength() {
    return 0;
  }

  @Override
  public byte[] valueArray() {
    throw new NoSuchElementException("an empty cursor stands on no cell");
  }

  @Override
  public int valueOffset() {
    return 0;
  }

  @Override
  public int valueLength() {
    return 0;
  }

  @Override
  public void close() {}
}
