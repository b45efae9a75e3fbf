package org.stele.core.file;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.stele.core.concurrent.NonBlocking;

/**
 * Files below a directory of a local disk, synced for real: bytes with {@link FileChannel#force},
 * and directory entries by a sync of their directory.
 *
 * <p>Thread-safe, without state but the root.
 */
public final class LocalFileStore implements FileStore {
  /** File systems on which a lock does not mean what it means on a local disk. */
  private static final Set<String> NETWORK_FILE_SYSTEMS =
      Set.of(
          "nfs",
          "nfs4",
          "cifs",
          "smb",
          "smb2",
          "smb3",
          "afs",
          "ceph",
          "fuse.ceph",
          "lustre",
          "fuse.glusterfs",
          "glusterfs",
          "fuse.sshfs",
          "ncpfs",
          "gfs2",
          "ocfs2");

  /**
   * Most bytes of one read or write of a channel: the JDK copies through a buffer outside of the
   * heap, and keeps one of the largest size for each thread, for ever.
   */
  static final int MOST_BYTES_AT_ONCE = 128 << 10;

  private final Path root;

  private LocalFileStore(Path root) {
    this.root = root;
  }

  /**
   * A store below {@code root}, which is made if it is missing.
   *
   * @throws IOException if the root is on a network file system, among others
   */
  public static LocalFileStore open(Path root) throws IOException {
    NonBlocking.assertMayBlock();
    Path absolute = root.toAbsolutePath().normalize();
    makeDirectories(absolute);
    Path real = absolute.toRealPath();
    String type = Files.getFileStore(real).type();
    if (NETWORK_FILE_SYSTEMS.contains(type.toLowerCase(Locale.ROOT))) {
      throw new IOException(
          real
              + " is on a network file system ("
              + type
              + "): a local store must be on a disk of this machine");
    }
    return new LocalFileStore(real);
  }

  @Override
  public URI root() {
    return root.toUri();
  }

  @Override
  public FileOutput create(String path) throws IOException {
    return create(path, 0);
  }

  @Override
  public FileOutput createLog(String path, long expectedLength) throws IOException {
    if (expectedLength < 0) {
      throw new IllegalArgumentException(path + ": a length of " + expectedLength);
    }
    return create(path, expectedLength);
  }

  private FileOutput create(String path, long expectedLength) throws IOException {
    NonBlocking.assertMayBlock();
    Path file = resolve(path);
    FileChannel channel = createChannel(file);
    try {
      PosixModes.restrictFile(file);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    return new LocalFileOutput(file, channel, expectedLength);
  }

  private static FileChannel createChannel(Path file) throws IOException {
    try {
      return FileChannel.open(
          file,
          EnumSet.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
          PosixModes.fileAttributes(file));
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
  }

  @Override
  public FileInput open(String path) throws IOException {
    NonBlocking.assertMayBlock();
    return LocalFileInput.open(path, resolve(path));
  }

  @Override
  public boolean exists(String path) throws IOException {
    NonBlocking.assertMayBlock();
    return Files.exists(resolve(path), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    NonBlocking.assertMayBlock();
    List<Entry> entries = new ArrayList<>();
    try (Stream<Path> paths = Files.list(resolveDirectory(directory))) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        addEntry(entries, path);
      }
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
    entries.sort(Comparator.comparing(Entry::name));
    return entries;
  }

  private static void addEntry(List<Entry> entries, Path path) throws IOException {
    BasicFileAttributes attributes;
    try {
      attributes = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return; // deleted since it was listed
    }
    boolean isDirectory = attributes.isDirectory();
    entries.add(
        new Entry(
            String.valueOf(path.getFileName()), isDirectory, isDirectory ? 0 : attributes.size()));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    NonBlocking.assertMayBlock();
    Path source = resolve(from);
    Path target = resolve(to);
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw FileProblem.inWords(new FileAlreadyExistsException(target.toString()));
    }
    try {
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
    syncDirectory(directoryOf(target));
    if (!directoryOf(target).equals(directoryOf(source))) {
      syncDirectory(directoryOf(source));
    }
  }

  @Override
  public void delete(String path) throws IOException {
    NonBlocking.assertMayBlock();
    Path file = resolve(path);
    boolean deleted;
    try {
      deleted = Files.deleteIfExists(file);
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
    if (deleted) {
      syncDirectory(directoryOf(file));
    }
  }

  @Override
  public void makeDirectory(String path) throws IOException {
    NonBlocking.assertMayBlock();
    makeDirectories(resolveDirectory(path));
  }

  private static void makeDirectories(Path directory) throws IOException {
    if (Files.isDirectory(directory)) {
      return;
    }
    Path parent = directory.getParent();
    if (parent != null) {
      makeDirectories(parent);
    }
    try {
      Files.createDirectory(directory, PosixModes.directoryAttributes(directory));
      PosixModes.restrictDirectory(directory);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw FileProblem.inWords(e);
      }
    } catch (FileSystemException e) {
      throw FileProblem.inWords(e);
    }
    if (parent != null) {
      syncDirectory(parent);
    }
  }

  @Override
  public boolean canSync() {
    return true;
  }

  /**
   * Takes a lock on a file, for this process alone; the file is made if it is missing, and stays.
   *
   * @throws FileLockedException if this or another process holds it
   */
  public FileLock lock(String path) throws IOException {
    NonBlocking.assertMayBlock();
    return FileLock.acquire(resolve(path));
  }

  private Path resolve(String path) {
    return root.resolve(StorePath.check(path));
  }

  private Path resolveDirectory(String path) {
    return root.resolve(StorePath.checkDirectory(path));
  }

  /** The directory of a file below the root. */
  static Path directoryOf(Path file) {
    return requireNonNull(file.getParent(), "a file without a directory");
  }

  /** Brings the entries of a directory to the disk. */
  static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (FileSystemException e) {
      throw new IOException("cannot sync the directory " + FileProblem.inWords(e).getMessage(), e);
    } catch (IOException e) {
      throw new IOException(directory + ": cannot sync the directory: " + e.getMessage(), e);
    }
  }

  /** Nothing is held that would have to be closed. */
  @Override
  public void close() {}

  @Override
  public String toString() {
    return "local file store " + root;
  }
}
