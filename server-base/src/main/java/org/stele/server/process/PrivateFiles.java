package org.stele.server.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files and directories that only their owner may read and write, whatever the umask: 0600 and
 * 0700. On file systems without such permissions they are made as they come.
 */
final class PrivateFiles {
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private PrivateFiles() {}

  /**
   * Makes a directory and those above it that are missing; one that is there is closed to others.
   */
  static void makeDirectory(Path directory) throws IOException {
    Path parent = directory.getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      makeDirectory(parent);
    }
    try {
      Files.createDirectory(directory, attributes(directory, DIRECTORY));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
    restrict(directory, DIRECTORY);
  }

  /**
   * Writes a file so that readers, and a start after a crash, see the old content or the whole new
   * one.
   */
  static void replace(Path file, String content) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try (FileChannel channel =
        FileChannel.open(next, Set.of(CREATE, WRITE, TRUNCATE_EXISTING), attributes(file, FILE))) {
      restrict(next, FILE);
      ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(next, file, ATOMIC_MOVE, REPLACE_EXISTING);
    syncDirectory(file.toAbsolutePath().resolveSibling("."));
  }

  private static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, READ)) {
      channel.force(true);
    }
  }

  private static void restrict(Path path, Set<PosixFilePermission> permissions) throws IOException {
    if (isPosix(path) && !Files.getPosixFilePermissions(path).equals(permissions)) {
      Files.setPosixFilePermissions(path, permissions);
    }
  }

  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
    return isPosix(path)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
