package org.stele.client.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.SteleException;
import org.stele.core.settings.SettingException;

/** The one line that tells a user what went wrong. */
public final class FailureText {
  private FailureText() {}

  public static String of(Throwable e) {
    return oneLine(describe(e));
  }

  private static @Nullable String describe(Throwable e) {
    if (e instanceof CommandFailure || e instanceof SettingException) {
      return e.getMessage();
    } else if (e instanceof SteleException failure) {
      return failure.getMessage() == null ? failure.code().name() : failure.getMessage();
    } else if (e instanceof UncheckedIOException io) {
      return describe(io.getCause() == null ? io : io.getCause());
    } else if (e instanceof FileSystemException file) {
      return describeFile(file);
    } else if (e instanceof IOException && e.getMessage() != null) {
      return e.getMessage();
    } else if (e instanceof InterruptedException) {
      return "interrupted";
    } else if (e instanceof OutOfMemoryError && String.valueOf(e.getMessage()).contains("thread")) {
      return "no more threads: the limit of processes (ulimit -u) or memory is too small ("
          + e
          + ")";
    } else if (e instanceof OutOfMemoryError) {
      return "out of memory: raise the heap of commands in conf/stele-env.sh (" + e + ")";
    }
    return "unexpected failure: " + e + " (--debug prints where)";
  }

  private static String describeFile(FileSystemException e) {
    String reason;
    if (e instanceof NoSuchFileException) {
      reason = "no such file or directory";
    } else if (e instanceof AccessDeniedException) {
      reason = "permission denied";
    } else if (e instanceof FileAlreadyExistsException) {
      reason = "exists already";
    } else if (e instanceof NotDirectoryException) {
      reason = "not a directory";
    } else {
      reason = e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
    }
    return e.getFile() + ": " + reason;
  }

  static String oneLine(@Nullable String message) {
    return message == null
        ? "no reason given"
        : message.strip().replaceAll("\\s*[\\r\\n]+\\s*", " ");
  }
}
