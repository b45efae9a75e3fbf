package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A user of whom nothing else runs, and to whom permissions and limits apply that do not bind root.
 * Only root can become another user; {@link #isPossible} tells.
 */
public final class UnprivilegedUser {
  private final int id;

  /**
   * @param id of a user that nobody has
   */
  public UnprivilegedUser(int id) {
    this.id = id;
  }

  /** Whether this process may run commands as somebody else, who can get at {@code path}. */
  public boolean isPossible(Path path) {
    try {
      return Commands.run(
                  Path.of("/"),
                  Map.of(),
                  new byte[0],
                  Duration.ofSeconds(10),
                  Stream.concat(command().stream(), Stream.of("test", "-r", path.toString()))
                      .toList())
              .exitCode()
          == 0;
    } catch (UncheckedIOException e) { // there is no setpriv
      return false;
    }
  }

  /** What stands before a command to have it run as this user. */
  public List<String> command() {
    return List.of("setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups");
  }

  /** Command lines of this user's processes, without those that have ended. */
  public List<String> processes() {
    List<String> found = new ArrayList<>();
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      for (Path process : all.filter(path -> isNumber(path.getFileName().toString())).toList()) {
        try {
          if (Files.getAttribute(process, "unix:uid").equals(id)) {
            String line = Files.readString(process.resolve("cmdline")).replace('\0', ' ');
            if (!line.isEmpty()) {
              found.add(line);
            }
          }
        } catch (IOException e) {
          found.remove(process.toString()); // it has ended meanwhile
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static boolean isNumber(String name) {
    return name.chars().allMatch(Character::isDigit);
  }

  /** Gives a directory and all in it to this user. */
  public void own(Path directory) {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.toList()) {
        Files.setAttribute(path, "unix:uid", id, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:gid", id, LinkOption.NOFOLLOW_LINKS);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
