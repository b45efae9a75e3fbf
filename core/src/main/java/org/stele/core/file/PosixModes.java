package org.stele.core.file;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Only the owner may read what Stele stores: directories have mode 0700, files 0600. They are made
 * with these modes, and since a umask may have taken bits away, set to them.
 */
final class PosixModes {
  static final Set<OpenOption> FILE_OPTIONS_WRITE_OR_CREATE =
      Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE);

  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");

  private PosixModes() {}

  static FileAttribute<?>[] fileAttributes(Path path) {
    return attributes(path.getFileSystem(), FILE);
  }

  static FileAttribute<?>[] directoryAttributes(Path path) {
    return attributes(path.getFileSystem(), DIRECTORY);
  }

  private static FileAttribute<?>[] attributes(
      FileSystem fileSystem, Set<PosixFilePermission> permissions) {
    return isPosix(fileSystem)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }

  static void restrictFile(Path file) throws IOException {
    restrict(file, FILE);
  }

  static void restrictDirectory(Path directory) throws IOException {
    restrict(directory, DIRECTORY);
  }

  private static void restrict(Path path, Set<PosixFilePermission> permissions) throws IOException {
    if (isPosix(path.getFileSystem()) && !Files.getPosixFilePermissions(path).equals(permissions)) {
      Files.setPosixFilePermissions(path, permissions);
    }
  }

  private static boolean isPosix(FileSystem fileSystem) {
    return fileSystem.supportedFileAttributeViews().contains("posix");
  }
}
