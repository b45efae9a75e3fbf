package org.stele.test.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a command to its end. */
public final class Commands {
  private static final Duration STREAM_LIMIT = Duration.ofSeconds(30);

  private Commands() {}

  /**
   * Runs a command; it must end within {@code limit}, else it is killed and an {@link
   * AssertionError} tells.
   *
   * @param environment added to this process's; an empty value removes the variable
   */
  public static CommandResult run(
      Path directory,
      Map<String, String> environment,
      byte[] input,
      Duration limit,
      List<String> command) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
      set(environment, builder);
      Process process = builder.start();
      CompletableFuture<byte[]> out = readAll(process.getInputStream());
      CompletableFuture<byte[]> err = readAll(process.getErrorStream());
      try (var stdin = process.getOutputStream()) {
        stdin.write(input);
      } catch (IOException e) {
        // The command ended without reading its input, which its result tells.
        out.isDone();
      }
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        throw new AssertionError(String.join(" ", command) + " did not end within " + limit);
      }
      return new CommandResult(
          command, process.exitValue(), toTheEnd(out, command), toTheEnd(err, command));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + command, e);
    }
  }

  /** Sets variables of a process; an empty value removes the variable. */
  static void set(Map<String, String> environment, ProcessBuilder builder) {
    environment.forEach(
        (name, value) -> {
          if (value.isEmpty()) {
            builder.environment().remove(name);
          } else {
            builder.environment().put(name, value);
          }
        });
  }

  /**
   * All that came; a process that was left behind and holds the stream would keep it from ending.
   */
  private static byte[] toTheEnd(CompletableFuture<byte[]> stream, List<String> command)
      throws InterruptedException {
    try {
      return stream.get(STREAM_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(
          String.join(" ", command) + " ended, and something still holds its output", e);
    } catch (ExecutionException e) {
      throw new AssertionError("cannot read the output of " + String.join(" ", command), e);
    }
  }

  private static CompletableFuture<byte[]> readAll(InputStream stream) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return stream.readAllBytes();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        task -> {
          Thread reader = new Thread(task, "command-output");
          reader.setDaemon(true);
          reader.start();
        });
  }
}
