package org.stele.core.file;

import java.io.IOException;

/** Stored bytes that are damaged: names the file and the offset at which the damage was found. */
public final class CorruptFileException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long offset;

  public CorruptFileException(String file, long offset, String what) {
    super(file + ": damaged at offset " + offset + ": " + what);
    this.file = file;
    this.offset = offset;
  }

  public String file() {
    return file;
  }

  public long offset() {
    return offset;
  }
}
