package org.stele.client.instance;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process that serves an instance directory, found by {@code DIR/stele.pid}.
 *
 * <p>A pid proves nothing: its process may have ended and the number may belong to another one. The
 * proof is {@code DIR/lock}, which the server holds open for its life: a process that has it open
 * is the server. Where open files cannot be seen (another user's process, no /proc) its command
 * line and start time decide.
 *
 * @param pid of the server
 * @param status what it says about itself, null while it is not ready
 */
public record ServerProcess(long pid, @Nullable ServerStatusFile status) {
  public static final String PID_FILE = "stele.pid";
  public static final String LOCK_FILE = "lock";

  private static final Path PROC = Path.of("/proc");

  /** The running server of a directory; empty if none runs. */
  public static Optional<ServerProcess> find(Path directory) throws IOException {
    return find(directory, PROC);
  }

  static Optional<ServerProcess> find(Path directory, Path proc) throws IOException {
    Long pid = readPid(directory.resolve(PID_FILE));
    if (pid == null) {
      return Optional.empty();
    }
    ServerStatusFile status = ServerStatusFile.read(directory);
    if (status != null && status.pid() != pid) {
      status = null;
    }
    return serves(directory, proc, pid, status)
        ? Optional.of(new ServerProcess(pid, status))
        : Optional.empty();
  }

  /** Whether the process is still there. */
  public boolean isAlive() {
    ProcessStat stat = ProcessStat.of(pid);
    return stat == null
        ? ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)
        : !stat.isZombie();
  }

  private static @Nullable Long readPid(Path file) throws IOException {
    try {
      String text = Files.readString(file, ISO_8859_1).strip();
      // Cut short by a crash, or not ours: nobody can be found by it.
      return text.matches("[1-9][0-9]{0,9}") ? Long.valueOf(text) : null;
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private static boolean serves(
      Path directory, Path proc, long pid, @Nullable ServerStatusFile status) {
    if (!Files.isDirectory(proc.resolve("self"))) {
      return ProcessHandle.of(pid).map(ServerProcess::isJava).orElse(false);
    }
    ProcessStat stat = ProcessStat.of(proc, pid);
    if (stat == null || stat.isZombie()) {
      return false;
    }
    if (status != null && status.startTicks() != 0 && status.startTicks() != stat.startTicks()) {
      return false;
    }
    Boolean open = hasOpen(proc, pid, directory.resolve(LOCK_FILE));
    return open == null ? isServerCommand(proc, pid) : open;
  }

  private static boolean isJava(ProcessHandle process) {
    return process.isAlive()
        && process.info().command().map(command -> command.endsWith("java")).orElse(true);
  }

  /** Whether the process has the file open; null if that cannot be seen. */
  private static @Nullable Boolean hasOpen(Path proc, long pid, Path file) {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(proc.resolve(pid + "/fd"))) {
      Object key = fileKey(file);
      for (Path descriptor : descriptors) {
        if (Objects.equals(fileKey(descriptor), key)) {
          return true;
        }
      }
      return false;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException | DirectoryIteratorException e) {
      return null;
    }
  }

  /** Device and inode of what a path leads to; a value equal to nothing if it leads nowhere. */
  private static Object fileKey(Path path) {
    try {
      return Objects.requireNonNullElseGet(
          Files.readAttributes(path, BasicFileAttributes.class).fileKey(), Object::new);
    } catch (IOException e) {
      return new Object();
    }
  }

  private static boolean isServerCommand(Path proc, long pid) {
    try {
      String command = Files.readString(proc.resolve(pid + "/cmdline"), ISO_8859_1);
      return command.contains("org.stele.")
          && (command.contains("\0standalone\0") || command.contains("\0server\0"));
    } catch (IOException e) {
      return false;
    }
  }
}
