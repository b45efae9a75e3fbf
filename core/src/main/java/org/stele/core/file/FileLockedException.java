package org.stele.core.file;

import java.io.IOException;
import java.nio.file.Path;

/** A lock file that someone else holds; names the file. */
public final class FileLockedException extends IOException {
  private static final long serialVersionUID = 1L;

  FileLockedException(Path file, String holder) {
    super(file + " is locked by " + holder);
  }
}
