package org.stele.core.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.core.concurrent.NonBlocking;

/**
 * Writes one local file. What is written is with the operating system at once, so a flush has
 * nothing to do.
 *
 * <p>A log is kept ahead with zeros: bytes that overwrite zeros which are on the disk need no new
 * length and no new extents there, so a sync writes the data and no journal. The zeros are written
 * a chunk at a time, as far as the log is expected to become, and are cut off by {@link #close()}.
 */
final class LocalFileOutput implements FileOutput {
  /** Zeros written ahead at a time: small, because the next sync has to bring them to the disk. */
  private static final int ZEROS_BYTES = 1 << 20;

  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(64 << 10).asReadOnlyBuffer();

  private final Path file;
  private final FileChannel channel;
  private final long expectedLength;

  /** Held by each write and sync; {@link #close()} only tries it, so that it cannot hang. */
  private final ReentrantLock use = new ReentrantLock();

  // Changed by the thread that holds use.
  private volatile long position;
  private long zerosEnd;
  private boolean entrySynced;
  private boolean failed;

  LocalFileOutput(Path file, FileChannel channel, long expectedLength) {
    this.file = file;
    this.channel = channel;
    this.expectedLength = expectedLength;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    NonBlocking.assertMayBlock();
    use.lock();
    try {
      requireUsable();
      writeZerosAhead(position + source.remaining());
      long at = position;
      int end = source.limit();
      while (source.position() < end) {
        source.limit(Math.min(end, source.position() + LocalFileStore.MOST_BYTES_AT_ONCE));
        at += channel.write(source, at);
      }
      position = at;
    } catch (IOException e) {
      throw fail("write", e);
    } finally {
      use.unlock();
    }
  }

  /** Sees to it that zeros stand from where the file ends now up to {@code end}, and some more. */
  private void writeZerosAhead(long end) throws IOException {
    if (end <= zerosEnd || zerosEnd >= expectedLength) {
      return;
    }
    long wanted = Math.min(expectedLength, Math.max(end, zerosEnd + ZEROS_BYTES));
    long at = Math.max(zerosEnd, position);
    while (at < wanted) {
      ByteBuffer zeros = ZEROS.duplicate();
      zeros.limit((int) Math.min(zeros.capacity(), wanted - at));
      at += channel.write(zeros, at);
    }
    zerosEnd = Math.max(zerosEnd, wanted);
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public void flush() throws IOException {
    NonBlocking.assertMayBlock();
    use.lock();
    try {
      requireUsable();
    } finally {
      use.unlock();
    }
  }

  @Override
  public void sync() throws IOException {
    NonBlocking.assertMayBlock();
    use.lock();
    try {
      requireUsable();
      channel.force(false);
      if (!entrySynced) {
        LocalFileStore.syncDirectory(LocalFileStore.directoryOf(file));
        entrySynced = true;
      }
    } catch (IOException e) {
      throw fail("sync", e);
    } finally {
      use.unlock();
    }
  }

  private void requireUsable() throws IOException {
    if (failed) {
      throw new IOException("an earlier operation failed");
    }
    if (!channel.isOpen()) {
      throw new ClosedChannelException();
    }
  }

  /** After a failure the bytes on the disk are unknown: nothing more is accepted. */
  private IOException fail(String operation, IOException cause) {
    failed = true;
    return new IOException(file + ": cannot " + operation + ": " + describe(cause), cause);
  }

  private static String describe(IOException e) {
    return e instanceof ClosedChannelException ? "it is closed" : String.valueOf(e.getMessage());
  }

  @Override
  public void close() throws IOException {
    if (!channel.isOpen()) {
      return;
    }
    boolean unused = use.tryLock();
    try {
      if (unused && !failed && zerosEnd > position) {
        channel.truncate(position);
      }
    } catch (ClosedChannelException e) {
      return; // closed by another thread just now
    } finally {
      try {
        channel.close();
      } finally {
        if (unused) {
          use.unlock();
        }
      }
    }
  }

  @Override
  public String toString() {
    return "output to " + file;
  }
}
