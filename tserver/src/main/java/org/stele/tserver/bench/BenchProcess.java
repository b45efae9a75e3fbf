package org.stele.tserver.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.json.Json;

/**
 * A process of the benchmark's own that runs a hidden command of {@code stele bench}. It says what
 * it has to say as lines of JSON on its standard output, and ends when its standard input does, so
 * also when this process dies. Its errors go where ours go. Used by one thread.
 */
final class BenchProcess implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final long END_LIMIT_SECONDS = 10;

  private final String what;
  private final Process process;
  private final BufferedReader output;
  private final OutputStream input;

  private BenchProcess(String what, Process process) {
    this.what = what;
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.input = process.getOutputStream();
  }

  /**
   * @param arguments of {@code stele bench}
   */
  static BenchProcess start(CommandContext context, String what, List<String> arguments)
      throws IOException {
    return start(context, what, Map.of(), arguments);
  }

  /**
   * @param environment variables beside those of this process
   */
  static BenchProcess start(
      CommandContext context, String what, Map<String, String> environment, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>(context.steleCommand());
    command.add("bench");
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    return new BenchProcess(what, builder.start());
  }

  long pid() {
    return process.pid();
  }

  /** What it says when it is ready. */
  Map<String, @Nullable Object> awaitReady() throws IOException {
    return read(START_LIMIT);
  }

  /** Its next line. */
  Map<String, @Nullable Object> read(Duration limit) throws IOException {
    FutureTask<@Nullable String> reading = new FutureTask<>(output::readLine);
    Thread reader = new Thread(reading, "bench-reader");
    reader.setDaemon(true);
    reader.start();
    String line;
    try {
      line = reading.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new CommandFailure(what + " said nothing for " + limit.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw new CommandFailure(what + " ended", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
    if (line == null) {
      throw new CommandFailure(what + " ended before it was ready or done");
    }
    return Json.parseObject(line);
  }

  /** Gives it a line to read. */
  void tell(String line) throws IOException {
    input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  @Override
  public void close() {
    try {
      input.close();
    } catch (IOException e) {
      process.destroy(); // it is going anyway
    }
    try {
      if (!process.waitFor(END_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
