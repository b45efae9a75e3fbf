package org.stele.core.file;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Appends to one file. One thread at a time, except that {@link #close()} may come from another.
 *
 * <p>After any method has thrown, the file's content is unknown and the output is only good for
 * closing.
 */
public interface FileOutput extends Closeable {
  /** Writes all that remains in {@code source}. */
  void write(ByteBuffer source) throws IOException;

  /** Bytes written so far. */
  long position();

  /**
   * Gives what was written to the operating system (or the data nodes' memory): it survives the end
   * of the process.
   */
  void flush() throws IOException;

  /** Brings what was written to the disk: it survives the end of the machine. */
  void sync() throws IOException;

  /** Closes without a sync; idempotent. */
  @Override
  void close() throws IOException;
}
