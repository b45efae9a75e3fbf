package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that runs until it is told to end, such as a server in the foreground. */
public final class Daemon implements AutoCloseable {
  private static final Duration END_LIMIT = Duration.ofMinutes(2);

  private final Process process;
  private final Path output;

  private Daemon(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /**
   * Starts a process in a directory.
   *
   * @param output gets what it prints
   */
  public static Daemon start(Path directory, Path output, List<String> command) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().remove("STELE_DIR");
    builder.environment().remove("STELE_CONNECT");
    try {
      Process process = builder.start();
      process.getOutputStream().close();
      return new Daemon(process, output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public long pid() {
    return process.pid();
  }

  /** What it printed so far. */
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asks it to end, as Ctrl-C does, and returns its exit code. */
  public int end() {
    process.destroy();
    return exitCode();
  }

  /** Waits for its end, and returns its exit code. */
  public int exitCode() {
    try {
      if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("process " + process.pid() + " does not end: " + output());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends it at once, as a power switch would; returns when it is gone. */
  public void kill9() {
    process.destroyForcibly();
    exitCode();
  }

  @Override
  public void close() {
    kill9();
  }
}
