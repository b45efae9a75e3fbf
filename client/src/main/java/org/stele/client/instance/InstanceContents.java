package org.stele.client.instance;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What lies in an instance directory, and by what it is told from any other directory. */
public final class InstanceContents {
  /** Says that a directory is an instance, and in which format. */
  public static final String VERSION_FILE = "VERSION";

  /**
   * What may lie in a directory that is not yet an instance: made by scripts, or by a start cut
   * short.
   */
  private static final Set<String> BEFORE_VERSION =
      Set.of(
          "conf",
          "logs",
          ServerProcess.LOCK_FILE,
          ServerProcess.PID_FILE,
          ServerStatusFile.NAME,
          "zookeeper",
          "store",
          VERSION_FILE + ".next");

  private InstanceContents() {}

  /**
   * Why a directory must not become an instance; null if it is one already, or may become one. To
   * be asked before anything in it is changed.
   */
  public static @Nullable String objection(Path directory) throws IOException {
    if (!Files.exists(directory) || Files.exists(directory.resolve(VERSION_FILE))) {
      return null;
    }
    if (!Files.isDirectory(directory)) {
      return directory + " is not a directory";
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (!BEFORE_VERSION.contains(entry.getFileName().toString())) {
          return directory
              + " is not empty and no Stele instance (it holds "
              + entry.getFileName()
              + " and no file "
              + VERSION_FILE
              + "): name an empty or a new directory";
        }
      }
    }
    return null;
  }
}
