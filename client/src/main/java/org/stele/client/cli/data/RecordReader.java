package org.stele.client.cli.data;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Mutation;

/** A file as mutations, one after the other. Used by one thread. */
interface RecordReader extends Closeable {
  /**
   * The next mutation; null at the end of the file.
   *
   * @throws BadLineException for a line that cannot be loaded; the next call goes on behind it
   * @throws IOException if the file cannot be read on
   */
  @Nullable Mutation next() throws IOException, BadLineException;

  /** A line that cannot be loaded. */
  final class BadLineException extends Exception {
    private static final long serialVersionUID = 1L;

    BadLineException(long lineNumber, @Nullable String problem) {
      super("line " + lineNumber + ": " + problem);
    }
  }
}
