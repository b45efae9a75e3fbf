package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.Proxy;
import org.stele.test.process.Daemon;
import org.stele.test.process.Installation;
import org.stele.test.process.Serving;
import org.stele.test.process.Signpost;
import org.stele.test.process.StandaloneServer;

/**
 * A server hangs until its session is over, and its tablets are served at another address. Clients
 * that know the old one, where connections stay open and new ones are taken, but nothing is ever
 * answered, find the new one with every kind of operation, long before their deadline.
 */
class MovedTabletsIT extends ForServerKinds {
  private static final String TABLE = "moved";
  private static final List<String> ROWS = List.of("ada", "grace", "mary");

  private static final Duration ATTEMPT =
      TestForm.time(Duration.ofSeconds(1), Duration.ofSeconds(2));
  private static final Duration DEADLINE = ATTEMPT.multipliedBy(10);
  private static final Duration SESSION = Duration.ofSeconds(4);
  private static final Duration BACKOFFS = Duration.ofSeconds(3);
  private static final Duration LIMIT = ATTEMPT.plus(SESSION).plus(BACKOFFS);

  /** Of what begins before the tablets move: the start of a server is part of it. */
  private static final Duration LONG_DEADLINE = Duration.ofMinutes(5);

  private static final Duration PATIENCE = TestForm.generous(Duration.ofSeconds(20));

  private static final Map<String, Operation> OPERATIONS = operations();

  private final Installation installation = Installation.shared();
  private final List<SteleClient> clients = new ArrayList<>();
  private final ExecutorService callers =
      Executors.newCachedThreadPool(task -> new Thread(task, "caller"));
  private String connect = "";

  @TempDir private Path directory;

  /** Something that a client does, which also shows that it was done right. */
  private interface Operation {
    /**
     * @param row of its own, if it writes
     */
    void run(SteleClient client, String row) throws Exception;
  }

  private static Map<String, Operation> operations() {
    Map<String, Operation> all = new LinkedHashMap<>();
    all.put("lookup", (client, row) -> assertValue(client.lookup(TABLE, "ada")));
    all.put(
        "lookup without waiting",
        (client, row) -> assertValue(client.lookupAsync(TABLE, Bytes.of("ada")).get()));
    all.put("put", (client, row) -> client.write(TABLE, mutation(row)));
    all.put("put without waiting", (client, row) -> client.writeAsync(TABLE, mutation(row)).get());
    all.put(
        "batch put",
        (client, row) -> {
          try (BatchWriter writer = client.batchWriter(TABLE)) {
            writer.add(mutation(row));
            writer.add(mutation("a" + row)); // in another tablet
            writer.flush();
          }
        });
    all.put("scan", (client, row) -> assertTrue(scan(client).containsAll(ROWS)));
    return all;
  }

  private static Mutation mutation(String row) {
    return Mutation.of(row).put("f", "q", "value");
  }

  private static void assertValue(Row row) {
    assertEquals("value", row.get("f", "q"));
  }

  private static List<String> scan(SteleClient client) {
    List<String> rows = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).batchCells(1).open()) {
      for (Cell cell : scanner) {
        rows.add(cell.row().toString());
      }
    }
    return rows;
  }

  @Test
  void clientsThatKnowTheOldServerFindTheNewOne() throws Exception {
    try (Signpost zooKeeper = new Signpost(Files.createDirectory(directory.resolve("zookeeper")));
        Proxy way = new Proxy(new InetSocketAddress("127.0.0.2", 0))) {
      way.target(new InetSocketAddress("127.0.0.2", way.port()));
      connect = "127.0.0.1:" + zooKeeper.port() + "/instance";
      // Clients, and the server's own, are told the address of the proxy.
      try (Daemon old = server("old", "127.0.0.2", way.port())) {
        SteleClient observer = awaitReady();
        String oldAddress = observer.servers().list().get(0).address();
        assertEquals("127.0.0.1:" + way.port(), oldAddress);
        observer.tables().create(TABLE, TableOptions.defaults().withSplits(List.of(Bytes.of("h"))));
        ROWS.forEach(row -> observer.write(TABLE, mutation(row)));
        Map<String, SteleClient> waiting = warm(LONG_DEADLINE);
        Map<String, SteleClient> idle = warm(DEADLINE);

        way.fallSilent();
        StandaloneServer.signal(old.pid(), "STOP");
        Map<String, Future<Long>> begun = begin(waiting, "early");
        Conditions.await(
            "the session of the server is over",
            PATIENCE,
            () -> observer.servers().list().isEmpty());
        old.kill9();
        begun.forEach((what, end) -> assertTrue(!end.isDone(), () -> what + " has ended"));

        try (Daemon moved = server("new", "127.0.0.1", 0)) {
          SteleClient fresh = awaitReady();
          long ready = System.nanoTime();
          assertEnd(begin(idle, "late"), ready);
          assertEnd(begun, ready);
          assertAllWritten(fresh);
          clients.forEach(SteleClient::close);
          assertEquals(0, moved.end(), moved.output());
        }
      }
    } finally {
      callers.shutdownNow();
      clients.forEach(SteleClient::close);
    }
  }

  private Daemon server(String name, String address, int port) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("zookeeper.connect=" + connect);
    lines.add("zookeeper.session.timeout=" + SESSION.toSeconds() + "s");
    lines.add("root.uri=" + directory.resolve("store").toUri());
    lines.add("rpc.bind.address=" + address);
    lines.add("rpc.advertise.address=127.0.0.1");
    lines.add("rpc.port=" + port);
    Serving.current().settings().forEach((setting, value) -> lines.add(setting + "=" + value));
    Path settings = Files.write(directory.resolve(name + ".properties"), lines);
    return Daemon.start(
        directory,
        directory.resolve(name + ".out"),
        List.of(
            "env",
            "STELE_SERVER_OPTS=" + installation.serverOptions(),
            installation.script().toString(),
            "server",
            "--conf=" + settings,
            "--logs=" + directory.resolve(name)));
  }

  private SteleClient client(Duration deadline) {
    ClientOptions options =
        Serving.current().clientOptions().withAttemptTimeout(ATTEMPT).withDeadline(deadline);
    SteleClient client = SteleClient.connect(connect, options);
    clients.add(client);
    return client;
  }

  /** A client, from when there is one server, which is ready. */
  private SteleClient awaitReady() {
    AtomicReference<SteleClient> connected = new AtomicReference<>();
    Conditions.await(
        "a server is ready",
        PATIENCE,
        () -> {
          try {
            if (connected.get() == null) {
              connected.set(client(LONG_DEADLINE));
            }
            SteleClient client = connected.get();
            return client.servers().list().stream()
                .anyMatch(server -> client.servers().status(server.address()).ready());
          } catch (SteleException e) {
            if (connected.get() == null && e.getMessage().contains("there is no Stele instance")) {
              return false;
            }
            throw e;
          }
        });
    return Objects.requireNonNull(connected.get());
  }

  /** For each operation a client of its own that has done it before. */
  private Map<String, SteleClient> warm(Duration deadline) throws Exception {
    Map<String, SteleClient> warm = new LinkedHashMap<>();
    for (Map.Entry<String, Operation> operation : OPERATIONS.entrySet()) {
      SteleClient client = client(deadline);
      operation.getValue().run(client, "warm");
      warm.put(operation.getKey(), client);
    }
    return warm;
  }

  /** Begins all operations; each future has the time of the end, by {@link System#nanoTime}. */
  private Map<String, Future<Long>> begin(Map<String, SteleClient> by, String when) {
    Map<String, Future<Long>> begun = new LinkedHashMap<>();
    by.forEach(
        (what, client) ->
            begun.put(
                what,
                callers.submit(
                    () -> {
                      OPERATIONS.get(what).run(client, row(when, what));
                      return System.nanoTime();
                    })));
    return begun;
  }

  private static String row(String when, String what) {
    return when + " " + what;
  }

  private static void assertEnd(Map<String, Future<Long>> begun, long fromNanos) throws Exception {
    Map<String, Duration> took = new LinkedHashMap<>();
    for (Map.Entry<String, Future<Long>> operation : begun.entrySet()) {
      long end = operation.getValue().get(LONG_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      took.put(operation.getKey(), Duration.ofNanos(end - fromNanos));
    }
    assertTrue(took.values().stream().allMatch(each -> each.compareTo(LIMIT) < 0), took::toString);
  }

  private static void assertAllWritten(SteleClient client) {
    List<String> expected = new ArrayList<>(ROWS);
    for (String when : List.of("early", "late")) {
      expected.add(row(when, "put"));
      expected.add(row(when, "put without waiting"));
      expected.add(row(when, "batch put"));
      expected.add("a" + row(when, "batch put"));
    }
    expected.add("warm");
    expected.add("awarm");
    expected.sort(null);
    assertEquals(expected, scan(client));
  }
}
