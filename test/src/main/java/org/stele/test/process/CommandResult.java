package org.stele.test.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/** How a command ended, and all it printed. */
public record CommandResult(List<String> command, int exitCode, byte[] stdout, byte[] stderr) {
  public String out() {
    return new String(stdout, UTF_8);
  }

  public String err() {
    return new String(stderr, UTF_8);
  }

  public List<String> lines() {
    return out().lines().toList();
  }

  /**
   * This result, if the command succeeded.
   *
   * @throws AssertionError with what it printed, if not
   */
  public CommandResult orFail() {
    if (exitCode != 0) {
      throw new AssertionError(this + " failed");
    }
    return this;
  }

  @Override
  public String toString() {
    return String.join(" ", command)
        + " (exit code "
        + exitCode
        + ")\n"
        + new String(stdout, ISO_8859_1)
        + new String(stderr, ISO_8859_1);
  }
}
