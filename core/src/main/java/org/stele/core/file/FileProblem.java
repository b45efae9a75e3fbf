package org.stele.core.file;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Says what is wrong with a file: the exceptions of the JDK whose type tells it have a message that
 * is the path alone, and messages travel farther than types.
 */
final class FileProblem {
  private FileProblem() {}

  /** The same exception, of the same type, with a reason in its message. */
  static FileSystemException inWords(FileSystemException e) {
    if (e.getReason() != null) {
      return e;
    }
    FileSystemException told;
    if (e instanceof AccessDeniedException) {
      told = new AccessDeniedException(e.getFile(), e.getOtherFile(), "permission denied");
    } else if (e instanceof NoSuchFileException) {
      told = new NoSuchFileException(e.getFile(), e.getOtherFile(), "no such file or directory");
    } else if (e instanceof FileAlreadyExistsException) {
      told = new FileAlreadyExistsException(e.getFile(), e.getOtherFile(), "it exists already");
    } else {
      return e;
    }
    told.initCause(e);
    return told;
  }
}
