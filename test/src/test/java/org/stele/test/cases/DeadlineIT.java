package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.OperationInterruptedException;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.retry.RetryOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.net.FullBacklog;
import org.stele.test.net.Listener;
import org.stele.test.net.Proxy;
import org.stele.test.process.Serving;
import org.stele.test.process.Signpost;
import org.stele.test.process.StandaloneServer;

/**
 * Every operation ends by its deadline whatever the server does or does not: stopped, silent, not
 * reachable, not known, or endlessly slow. An interrupt ends it sooner, and nothing of it is left.
 */
class DeadlineIT {
  private static final Duration DEADLINE =
      TestForm.time(Duration.ofSeconds(2), Duration.ofSeconds(5));

  /** A busy machine may be late to tell that the time is over, but not by as much again. */
  private static final Duration LIMIT = DEADLINE.plus(TestForm.generous(Duration.ofMillis(300)));

  private static final Duration UNDER_WAY_LIMIT = TestForm.generous(Duration.ofSeconds(3));
  private static final Duration INTERRUPT_LIMIT = TestForm.generous(Duration.ofSeconds(1));
  private static final int CONNECTS = TestForm.count(1000, 5000);
  private static final int LOGINS = TestForm.count(30, 300);

  @TempDir private static Path directory;

  private static Signpost signpost;
  private static ExecutorService threads;
  private static int instances;

  /** Something that a client does. */
  private interface Operation {
    Object run(SteleClient client) throws Exception;
  }

  private static final Map<String, Operation> OPERATIONS = operations();

  private static Map<String, Operation> operations() {
    Map<String, Operation> all = new LinkedHashMap<>();
    all.put("lookup", client -> client.lookup("people", "ada"));
    all.put("lookup without waiting", client -> get(client));
    all.put(
        "write",
        client -> {
          client.write("people", Mutation.of("ada").put("f", "q", "v"));
          return "written";
        });
    all.put(
        "flush of a writer",
        client -> {
          try (BatchWriter writer = client.batchWriter("people")) {
            writer.add(Mutation.of("ada").put("f", "q", "v"));
            writer.flush();
          }
          return "flushed";
        });
    all.put(
        "scan",
        client -> {
          try (Scanner scanner = client.scanner("people").open()) {
            return scanner.iterator().hasNext();
          }
        });
    all.put(
        "create",
        client -> {
          client.tables().create("more");
          return "created";
        });
    all.put("list", client -> client.tables().list());
    return all;
  }

  private static Object get(SteleClient client) throws Exception {
    try {
      return client
          .lookupAsync("people", Bytes.of("ada"))
          .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SteleException failure) {
        throw failure;
      }
      throw e;
    }
  }

  @BeforeAll
  static void begin() throws IOException {
    signpost = new Signpost(Files.createDirectory(directory.resolve("zookeeper")));
    threads = Executors.newCachedThreadPool(task -> new Thread(task, "caller"));
  }

  @AfterAll
  static void end() throws IOException {
    threads.shutdownNow();
    signpost.close();
  }

  private static SteleClient clientOf(String metadataAddress, ClientOptions options) {
    instances++;
    return SteleClient.connect(
        signpost.instance("/instance" + instances, "fake", metadataAddress), options);
  }

  private static ClientOptions options() {
    return Serving.current().clientOptions().withDeadline(DEADLINE);
  }

  @AfterEach
  void useDefault() {
    ServerKind.useDefault();
  }

  @ParameterizedTest
  @EnumSource(names = {"THREADED_SELECTOR", "SSL"}) // to a client, any other is like one of these
  void operationsEndAgainstServersThatDoNotAnswer(ServerKind kind) throws Exception {
    kind.use();
    try (Listener silent = Listener.silent();
        Listener slow = new Listener(DeadlineIT::sendByteBySecond);
        Listener closing = Listener.closing();
        FullBacklog full = new FullBacklog()) {
      Map<String, String> servers = new LinkedHashMap<>();
      servers.put("a silent server", silent.address());
      servers.put("a server that sends a byte a second", slow.address());
      servers.put("a server that closes connections", closing.address());
      servers.put("a host that does not answer", full.address());
      servers.put("a port where nobody listens", "127.0.0.1:1");
      servers.put("a host that is not known", "no-such-host.invalid:9640");
      List<SteleClient> clients = new ArrayList<>();
      List<Future<?>> results = new ArrayList<>();
      for (Map.Entry<String, String> server : servers.entrySet()) {
        SteleClient client = clientOf(server.getValue(), options());
        clients.add(client);
        results.addAll(runAll(server.getKey(), client));
      }
      await(results);
      clients.forEach(SteleClient::close);
    }
  }

  @ParameterizedTest
  @MethodSource("org.stele.test.cases.ServerKind#ofThisForm")
  void operationsEndAgainstAStoppedServer(ServerKind kind) throws Exception {
    kind.use();
    ClientOptions options = options();
    try (StandaloneServer server =
        StandaloneServer.started(directory.resolve(kind.name()), Map.of())) {
      long pid = server.pid();
      String zooKeeper = server.zookeeper();
      try (SteleClient client = SteleClient.connect(zooKeeper, options)) {
        client.tables().create("people");
        client.write("people", Mutation.of("ada").put("f", "q", "v"));
        StandaloneServer.signal(pid, "STOP");
        try {
          List<Future<?>> results = runAll("a stopped server", client);
          results.add(
              threads.submit(
                  () ->
                      assertFailsInTime(
                          "connect to a stopped ZooKeeper",
                          () -> SteleClient.connect(zooKeeper, options))));
          await(results);
        } finally {
          StandaloneServer.signal(pid, "CONT");
        }
        Conditions.await(
            "the client works again",
            TestForm.generous(Duration.ofSeconds(10)),
            () -> succeeds(() -> client.lookup("people", "ada")));
      }
    }
  }

  @Test
  void connectingEndsWithoutAZooKeeper() throws Exception {
    try (Listener silent = Listener.silent();
        Listener closing = Listener.closing();
        FullBacklog full = new FullBacklog();
        Proxy fallsSilent = new Proxy(new InetSocketAddress("127.0.0.1", signpost.port()))) {
      fallsSilent.holdRepliesAfter(100);
      List<Future<?>> results = new ArrayList<>();
      for (String server :
          List.of(
              silent.address(),
              closing.address(),
              full.address(),
              "127.0.0.1:1",
              "no-such-host.invalid:9641",
              "127.0.0.1:" + fallsSilent.port(),
              "127.0.0.1:" + signpost.port() + "/nothing/here")) {
        results.add(
            threads.submit(
                () ->
                    assertFailsInTime(
                        "connect to ZooKeeper " + server,
                        () -> SteleClient.connect(server, options()))));
      }
      await(results);
    }
  }

  @Test
  void tooShortDeadlinesAreRefused() {
    for (Duration impossible :
        List.of(Duration.ZERO, Duration.ofNanos(999_999), Duration.ofSeconds(-1))) {
      assertThrows(
          IllegalArgumentException.class, () -> ClientOptions.defaults().withDeadline(impossible));
      assertThrows(
          IllegalArgumentException.class,
          () -> ClientOptions.defaults().withAttemptTimeout(impossible));
      assertThrows(
          IllegalArgumentException.class,
          () -> ClientOptions.defaults().withConnectTimeout(impossible));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"THREADED_SELECTOR", "SSL"})
  void interruptsEndOperationsAndNothingElse(ServerKind kind) throws Exception {
    kind.use();
    ClientOptions patient =
        options().withDeadline(Duration.ofMinutes(5)).withAttemptTimeout(Duration.ofMinutes(5));
    for (Map.Entry<String, Operation> operation : OPERATIONS.entrySet()) {
      if (operation.getKey().contains("without waiting")) {
        continue; // a future is given up, not interrupted
      }
      try (Listener silent = Listener.silent();
          Listener closing = Listener.closing();
          SteleClient waiting = clientOf(silent.address(), patient);
          SteleClient retrying = clientOf(closing.address(), patient)) {
        interrupt(operation, waiting, silent);
        interrupt(operation, retrying, closing);
      }
    }
  }

  private static void interrupt(
      Map.Entry<String, Operation> operation, SteleClient client, Listener server)
      throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                operation.getValue().run(client);
              } catch (Throwable e) {
                failure.set(e);
              }
            },
            "interrupted-caller");
    caller.start();
    Conditions.await("the call is under way", UNDER_WAY_LIMIT, () -> server.accepted() > 0);
    caller.interrupt();
    caller.join(INTERRUPT_LIMIT.toMillis());
    assertEquals(Thread.State.TERMINATED, caller.getState(), operation.getKey());
    assertInstanceOf(OperationInterruptedException.class, failure.get(), operation.getKey());
    // Others are served as before, by attempts of their own; of the interrupted one there are none.
    int before = server.accepted();
    assertThrows(SteleException.class, DeadlineIT::tryInVain);
    assertTrue(server.accepted() - before <= 1, () -> operation.getKey() + " goes on");
  }

  private static final Duration INTERRUPT_PROOF = Duration.ofMillis(200);

  /** Takes at least as long as an operation that goes on would need for its next attempt. */
  private static void tryInVain() {
    try (SteleClient other = clientOf("127.0.0.1:1", options().withDeadline(INTERRUPT_PROOF))) {
      other.lookup("people", "ada");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"THREADED_SELECTOR", "SSL"})
  void failedConnectsLeaveNothingBehind(ServerKind kind) throws Exception {
    kind.use();
    ClientOptions hasty =
        options()
            .withDeadline(Duration.ofMinutes(2))
            .withRetry(
                RetryOptions.defaults()
                    .withWaits(Duration.ofNanos(1000), Duration.ofMillis(1))
                    .withBudget(10, 1_000_000, CONNECTS * 2));
    ProcessGauges before = gauges();
    try (Listener closing = Listener.closing();
        SteleClient client = clientOf(closing.address(), hasty)) {
      Future<?> lookup = threads.submit(() -> client.lookup("people", "ada"));
      Conditions.await(
          CONNECTS + " connections",
          TestForm.generous(Duration.ofSeconds(20)),
          () -> closing.accepted() >= CONNECTS);
      assertTrue(
          gauges().descriptors() < before.descriptors() + 100, () -> "while it tries: " + gauges());
      lookup.cancel(true);
    }
    ClientOptions short50 =
        ClientOptions.defaults()
            .withDeadline(Duration.ofMillis(50))
            .withConnectTimeout(Duration.ofMillis(50));
    for (int i = 0; i < LOGINS; i++) {
      assertThrows(SteleException.class, () -> SteleClient.connect("127.0.0.1:1", short50));
    }
    Conditions.await(
        "descriptors and threads are back at " + before,
        TestForm.generous(Duration.ofSeconds(10)),
        () ->
            gauges().descriptors() <= before.descriptors() + 10
                && gauges().threads() <= before.threads() + 15);
  }

  private static ProcessGauges gauges() {
    return ProcessGauges.of(ProcessHandle.current().pid());
  }

  /** Never a whole frame within any deadline. */
  private static void sendByteBySecond(Socket connection) throws IOException {
    InputStream in = connection.getInputStream();
    if (in.read() < 0) {
      return;
    }
    byte[] beginOfFrame = {0, 0, 1, 0};
    for (int i = 0; ; i++) {
      connection.getOutputStream().write(i < beginOfFrame.length ? beginOfFrame[i] : 0x11);
      connection.getOutputStream().flush();
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  private static List<Future<?>> runAll(String server, SteleClient client) {
    List<Future<?>> results = new ArrayList<>();
    OPERATIONS.forEach(
        (name, operation) ->
            results.add(
                threads.submit(
                    () -> assertFailsInTime(name + " at " + server, () -> operation.run(client)))));
    return results;
  }

  private interface Call {
    Object run() throws Exception;
  }

  private static Void assertFailsInTime(String what, Call call) {
    long begin = System.nanoTime();
    SteleException e = assertThrows(SteleException.class, call::run, what);
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(took.compareTo(LIMIT) < 0, () -> what + " failed after " + took + ": " + e);
    assertTrue(e.getMessage() != null && !e.getMessage().isBlank(), what);
    return null;
  }

  private static boolean succeeds(Call call) {
    try {
      call.run();
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  private static void await(List<Future<?>> results) throws InterruptedException {
    List<String> faults = new ArrayList<>();
    for (Future<?> result : results) {
      try {
        result.get(LIMIT.toMillis() * 3, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        faults.add(e.getCause().toString());
      } catch (TimeoutException e) {
        faults.add("an operation does not end");
      }
    }
    assertEquals(List.of(), faults);
  }
}
