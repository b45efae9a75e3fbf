package org.stele.core.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock of the operating system on a file, held until it is closed or the process ends.
 *
 * <p>A process opens a lock file at most once: on POSIX, closing any other descriptor of the file
 * would give the lock up. Thread-safe.
 */
public final class FileLock implements AutoCloseable {
  @GuardedBy("FileLock.class")
  private static final Set<Path> HELD = new HashSet<>();

  private final Path file;
  private final FileChannel channel;

  private FileLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Takes the lock at once; the file is made if it is missing, and stays.
   *
   * @throws FileLockedException if this or another process holds it
   */
  public static FileLock acquire(Path file) throws IOException {
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null) {
      throw new IOException(file + " cannot be a lock file");
    }
    Path key = parent.toRealPath().resolve(file.getFileName());
    synchronized (FileLock.class) {
      if (HELD.contains(key)) {
        throw new FileLockedException(key, "this process");
      }
      FileChannel channel = open(key);
      if (channel == null) {
        throw new FileLockedException(key, "another process");
      }
      HELD.add(key);
      return new FileLock(key, channel);
    }
  }

  /** Opens and locks the file; null if another process holds the lock. */
  private static @Nullable FileChannel open(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, PosixModes.FILE_OPTIONS_WRITE_OR_CREATE, PosixModes.fileAttributes(file));
    try {
      PosixModes.restrictFile(file);
      if (channel.tryLock() != null) {
        return channel;
      }
    } catch (IOException | RuntimeException e) {
      channel.close();
      if (e instanceof OverlappingFileLockException) {
        return null;
      }
      throw e;
    }
    channel.close();
    return null;
  }

  public Path file() {
    return file;
  }

  /** Gives the lock up; the file stays. Idempotent. */
  @Override
  public void close() throws IOException {
    synchronized (FileLock.class) {
      if (channel.isOpen()) {
        try {
          channel.close();
        } finally {
          HELD.remove(file);
        }
      }
    }
  }
}
