package org.stele.core.file;

import java.io.IOException;

/**
 * A file that is whole but was written by a newer release: its format version or a feature it
 * requires is unknown to this one. Names the file and what is unknown.
 */
public final class UnsupportedFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public UnsupportedFormatException(String file, String what) {
    super(file + ": cannot be read by this release: " + what);
  }
}
