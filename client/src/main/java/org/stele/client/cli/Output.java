package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;

/**
 * Standard output of a command: lines of UTF-8, whatever the locale. Buffered; {@link Main} flushes
 * it at the end, a command earlier when someone waits for its lines. Used by one thread.
 *
 * <p>An error of the stream stops the command: {@link ClosedException} if nobody reads any more (as
 * behind {@code | head -1}), {@link CommandFailure} else, such as on a full disk.
 */
public final class Output {
  private static final int BUFFER_BYTES = 64 << 10;

  private final OutputStream stream;
  private boolean failed;

  public Output(OutputStream stream) {
    this.stream = new BufferedOutputStream(stream, BUFFER_BYTES);
  }

  public void line(String text) {
    try {
      stream.write(text.getBytes(UTF_8));
      stream.write('\n');
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Does nothing after a failure, which was told then. */
  public void flush() {
    if (failed) {
      return;
    }
    try {
      stream.flush();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private RuntimeException failure(IOException e) {
    failed = true;
    String message = String.valueOf(e.getMessage());
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("broken pipe") || lower.contains("connection reset")) {
      return new ClosedException(e);
    }
    return new CommandFailure("cannot write to standard output: " + message, e);
  }

  /** The reader of standard output is gone: there is nothing more to do and nobody to tell. */
  static final class ClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ClosedException(IOException cause) {
      super(cause);
    }
  }
}
