package org.stele.core.file;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;

/** Reads one file at any position. Thread-safe. */
public interface FileInput extends Closeable {
  String path();

  /** The file's length as it was opened. */
  long length();

  /**
   * Fills {@code length} bytes of {@code target}.
   *
   * @throws EOFException if the file ends before
   */
  void readFully(long position, byte[] target, int offset, int length) throws IOException;

  @Override
  void close();
}
