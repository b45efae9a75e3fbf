package org.stele.core.file;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/**
 * The only door to files: sorted files, logs and markers are made, read, listed, renamed and
 * deleted here. Paths are relative to the root, with {@code /} between names, no empty names, no
 * {@code .} or {@code ..}.
 *
 * <p>Thread-safe. Every method may block, and asserts that its thread may (see {@link
 * org.stele.core.concurrent.NonBlocking}). An {@link IOException} names the file.
 *
 * <p>What survives a crash of the machine: the bytes of a file up to its last {@link
 * FileOutput#sync()}, and its directory entry from its first sync on; {@link #rename}, {@link
 * #delete} and {@link #makeDirectory} when they have returned.
 */
public interface FileStore extends Closeable {
  URI root();

  /**
   * Makes a new file. Directories are not made.
   *
   * @throws java.nio.file.FileAlreadyExistsException if the path is taken
   * @throws java.nio.file.NoSuchFileException if the directory is missing
   */
  FileOutput create(String path) throws IOException;

  /**
   * Makes a new file of which {@code expectedLength} bytes are likely to be written in many synced
   * pieces; the store may reserve room. The length seen by readers may then be larger than what was
   * written, with zeros behind.
   */
  FileOutput createLog(String path, long expectedLength) throws IOException;

  /**
   * Opens a file for reads at any position.
   *
   * @throws java.nio.file.NoSuchFileException if there is none
   * @throws java.nio.file.AccessDeniedException if this process may not read it
   */
  FileInput open(String path) throws IOException;

  boolean exists(String path) throws IOException;

  /** The entries of a directory, in order of name; empty if the directory is missing. */
  List<Entry> list(String directory) throws IOException;

  /** Renames a file or directory at once; the target must not exist. */
  void rename(String from, String to) throws IOException;

  /** Deletes a file, or an empty directory; nothing happens if it is missing. */
  void delete(String path) throws IOException;

  /** Makes a directory and those above it; nothing happens if it is there. */
  void makeDirectory(String path) throws IOException;

  /**
   * Whether {@link FileOutput#sync()} really brings bytes to the disk; a store that cannot is
   * refused for logs.
   */
  boolean canSync();

  @Override
  void close() throws IOException;

  /** A file or directory; the length of a directory is 0. */
  record Entry(String name, boolean directory, long length) {}
}
