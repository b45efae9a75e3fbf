package org.stele.core.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.stele.core.concurrent.NonBlocking;

/**
 * Reads one local file from many threads.
 *
 * <p>Java closes a channel when a thread that uses it is interrupted. One interrupted reader must
 * not fail the others, so the channel is opened again then, and the interrupt is left to its
 * thread.
 */
final class LocalFileInput implements FileInput {
  private final String path;
  private final Path file;
  private final long length;

  private volatile FileChannel channel;

  @GuardedBy("this")
  private boolean closed;

  private LocalFileInput(String path, Path file, FileChannel channel, long length) {
    this.path = path;
    this.file = file;
    this.channel = channel;
    this.length = length;
  }

  static LocalFileInput open(String path, Path file) throws IOException {
    FileChannel channel = openChannel(file);
    try {
      if (Files.isDirectory(file)) {
        throw new NoSuchFileException(file.toString(), null, "it is a directory");
      }
      return new LocalFileInput(path, file, channel, channel.size());
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static FileChannel openChannel(Path file) throws IOException {
    try {
      return FileChannel.open(file, StandardOpenOption.READ);
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int count) throws IOException {
    NonBlocking.assertMayBlock();
    Objects.checkFromIndexSize(offset, count, target.length);
    if (position < 0) {
      throw new IllegalArgumentException(path + ": a read at " + position);
    }
    boolean interrupted = Thread.interrupted();
    try {
      ByteBuffer buffer = ByteBuffer.wrap(target, offset, count);
      while (buffer.position() < offset + count) {
        FileChannel used = channel;
        buffer.limit(
            Math.min(offset + count, buffer.position() + LocalFileStore.MOST_BYTES_AT_ONCE));
        try {
          long at = position + (buffer.position() - offset);
          if (used.read(buffer, at) < 0) {
            throw new EOFException(
                path + ": ends before " + count + " bytes at " + position + ", which were wanted");
          }
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
          reopen(used);
        } catch (ClosedChannelException e) {
          reopen(used);
        }
      }
    } catch (EOFException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(path + ": cannot read at " + position + ": " + e.getMessage(), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized void reopen(FileChannel broken) throws IOException {
    if (closed) {
      throw new IOException("it is closed");
    }
    if (channel == broken) {
      channel = openChannel(file);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing was written, so nothing can be lost; that the descriptor may leak is a broken
      // invariant of the operating system.
      throw new UncheckedIOException(path + ": cannot close", e);
    }
  }

  @Override
  public String toString() {
    return "input from " + path;
  }
}
