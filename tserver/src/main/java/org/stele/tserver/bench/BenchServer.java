package org.stele.tserver.bench;

import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.Target;
import org.stele.client.instance.ServerProcess;
import org.stele.client.instance.ServerStatusFile;

/**
 * The server that is measured: a running one, or a process of our own in a temporary directory. The
 * latter ends, and its directory goes, with {@link #close}, and also when this process is told to
 * end.
 */
final class BenchServer implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 50;

  private final String connectString;
  private final ClientOptions clientOptions;
  private final @Nullable String address;
  private final @Nullable Long pid;
  private final @Nullable OwnProcess own;

  private BenchServer(
      String connectString,
      ClientOptions clientOptions,
      @Nullable String address,
      @Nullable Long pid,
      @Nullable OwnProcess own) {
    this.connectString = connectString;
    this.clientOptions = clientOptions;
    this.address = address;
    this.pid = pid;
    this.own = own;
  }

  static BenchServer open(CommandContext context, ServerOptions options, ServerVariant variant)
      throws IOException {
    if (!context.isInstanceNamed()) {
      return startOwn(context, options.temp(), variant.allSettings());
    }
    Target target = context.target();
    Path directory = target.directory();
    Optional<ServerProcess> running =
        directory == null ? Optional.empty() : ServerProcess.find(directory);
    return new BenchServer(
        context.connectString(),
        context.clientOptions(),
        null,
        running.map(ServerProcess::pid).orElse(null),
        null);
  }

  /** Connects a client, with TLS if the server wants it. */
  SteleClient connect() {
    return SteleClient.connect(connectString, clientOptions);
  }

  /** How the server is connected to: with TLS or not. */
  ClientOptions clientOptions() {
    return clientOptions;
  }

  /** Of the server's endpoint; of several servers, one of them. */
  String address() {
    if (address != null) {
      return address;
    }
    try (SteleClient client = connect()) {
      return client.servers().list().stream()
          .findFirst()
          .orElseThrow(() -> new CommandFailure("no server runs"))
          .address();
    }
  }

  /** Where {@code address}, which is host:port, can be connected to. */
  static InetSocketAddress socketAddress(String address) {
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }

  /** Of the server's process; null if it is not known. */
  @Nullable Long pid() {
    return pid;
  }

  @Override
  public void close() {
    if (own != null) {
      own.close();
    }
  }

  private static BenchServer startOwn(
      CommandContext context, @Nullable Path temp, Map<String, String> settings)
      throws IOException {
    OwnProcess own = OwnProcess.start(context, temp, settings);
    try {
      ServerStatusFile status = own.awaitReady();
      return new BenchServer(
          status.zookeeper(),
          context.clientOptions(own.instance(), settings),
          status.address(),
          status.pid(),
          own);
    } catch (IOException | RuntimeException e) {
      own.close();
      throw e;
    }
  }

  /** A server process and its directory. */
  private static final class OwnProcess implements AutoCloseable {
    private final Path directory;
    private final Path output;
    private final Process process;
    private final Thread hook;
    private final AtomicBoolean closed = new AtomicBoolean();

    private OwnProcess(Path directory, Path output, Process process) {
      this.directory = directory;
      this.output = output;
      this.process = process;
      this.hook = new Thread(this::end, "bench-cleanup");
    }

    static OwnProcess start(
        CommandContext context, @Nullable Path temp, Map<String, String> settings)
        throws IOException {
      Path directory =
          temp == null
              ? Files.createTempDirectory("stele-bench-")
              : Files.createTempDirectory(temp, "stele-bench-");
      Path output = Files.createFile(directory.resolve("server.out"));
      List<String> command = new ArrayList<>(context.steleCommand());
      command.addAll(List.of("standalone", "--dir", directory.resolve("instance").toString()));
      command.addAll(List.of("--port", "0"));
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        command.add("--set=" + setting.getKey() + "=" + setting.getValue());
      }
      Process process =
          new ProcessBuilder(command)
              .redirectInput(new File("/dev/null"))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      OwnProcess own = new OwnProcess(directory, output, process);
      Runtime.getRuntime().addShutdownHook(own.hook);
      return own;
    }

    Path instance() {
      return directory.resolve("instance");
    }

    ServerStatusFile awaitReady() throws IOException {
      long deadline = System.nanoTime() + START_LIMIT.toNanos();
      while (System.nanoTime() - deadline < 0) {
        ServerStatusFile status = ServerStatusFile.read(instance());
        if (status != null) {
          return status;
        }
        if (!process.isAlive()) {
          throw new CommandFailure("the server did not start: " + lastWords());
        }
        pause(POLL_MILLIS);
      }
      throw new CommandFailure(
          "the server did not start within " + START_LIMIT.toSeconds() + " s: " + lastWords());
    }

    private String lastWords() throws IOException {
      List<String> said = Files.readAllLines(output).stream().filter(l -> !l.isBlank()).toList();
      return said.isEmpty() ? "it said nothing" : said.get(said.size() - 1);
    }

    @Override
    public void close() {
      end();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // This process is ending, and the hook with it; it finds nothing left to do.
        return;
      }
    }

    /** Ends the process and removes the directory, once. */
    private void end() {
      if (!closed.compareAndSet(false, true)) {
        return;
      }
      process.destroy();
      try {
        if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
        }
        removeDirectory();
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      } catch (IOException e) {
        throw new CommandFailure("cannot remove " + directory + ": " + e.getMessage(), e);
      }
    }

    private void removeDirectory() throws IOException {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
  }
}
