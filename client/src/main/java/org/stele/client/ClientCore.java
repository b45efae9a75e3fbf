package org.stele.client;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Locations;
import org.stele.client.location.RemoteMetadata;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.retry.RetryPolicy;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.client.rpc.TableCalls;
import org.stele.client.rpc.TabletCalls;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsOptions;
import org.stele.core.time.Clock;

/**
 * What the parts of the API share: the ZooKeeper session, the connections, the known locations, and
 * how an operation is made of attempts. Owns all of them and the client's threads. Thread-safe.
 */
final class ClientCore implements AutoCloseable {
  private final ClientOptions options;
  private final Clock clock;
  private final Coordination coordination;
  private final InstanceRecord instance;
  private final RpcClient rpc;
  private final TabletCalls tabletCalls;
  private final TableCalls tableCalls;
  private final ServerCalls serverCalls;
  private final Locations locations;
  private final LivingServers livingServers;
  private final RetryPolicy retry;
  private final ClientThreads threads;
  private final CountDownLatch closed = new CountDownLatch(1);

  /** Ended with the client. */
  private final Set<BatchWriter> writers = ConcurrentHashMap.newKeySet();

  private ClientCore(
      ClientOptions options,
      @Nullable TlsContext tls,
      Clock clock,
      Coordination coordination,
      InstanceRecord instance) {
    this.options = options;
    this.clock = clock;
    this.coordination = coordination;
    this.instance = instance;
    this.rpc =
        new RpcClient(
            new RpcOptions(
                options.connectTimeout(),
                options.connectionsPerServer(),
                options.maxReplyBytes(),
                options.tenant(),
                new SecureRandom().nextLong(),
                tls),
            clock,
            instance::id);
    this.tabletCalls = new TabletCalls(rpc);
    this.tableCalls = new TableCalls(rpc);
    this.serverCalls = new ServerCalls(rpc);
    this.locations = new Locations(new RemoteMetadata(coordination, tabletCalls, clock), clock);
    this.livingServers = new LivingServers(coordination);
    this.retry =
        new RetryPolicy(options.retry(), clock, () -> ThreadLocalRandom.current().nextDouble());
    this.threads = new ClientThreads();
  }

  static ClientCore connect(String zooKeeper, ClientOptions options, Clock clock) {
    TlsContext tls = tlsContext(options);
    Coordination coordination =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(zooKeeper), options.sessionTimeout(), options.connectTimeout()),
            clock);
    long end = clock.nanos() + options.deadline().toNanos();
    boolean connected = false;
    try {
      coordination.awaitConnected(options.deadline());
      Duration left = Duration.ofNanos(Math.max(0, end - clock.nanos()));
      InstanceRecord instance = coordination.readInstance(left);
      if (instance == null) {
        throw new SteleException(
            ErrorCode.UNAVAILABLE, "there is no Stele instance at " + coordination.connectString());
      }
      ClientCore core = new ClientCore(options, tls, clock, coordination, instance);
      connected = true;
      return core;
    } catch (CoordinationException e) {
      if (e.reason() == CoordinationException.Reason.INTERRUPTED) {
        throw new OperationInterruptedException(false, "connecting to " + zooKeeper, e);
      }
      throw new SteleException(ErrorCode.UNAVAILABLE, String.valueOf(e.getMessage()), e);
    } finally {
      if (!connected) {
        coordination.abandon(); // the time is over
      }
    }
  }

  private static @Nullable TlsContext tlsContext(ClientOptions options) {
    TlsOptions tls = options.tls();
    try {
      return tls == null ? null : TlsContext.forClient(tls);
    } catch (IOException e) {
      throw new SteleException(ErrorCode.BAD_REQUEST, String.valueOf(e.getMessage()), e);
    }
  }

  ClientOptions options() {
    return options;
  }

  String instanceId() {
    return instance.id();
  }

  Clock clock() {
    return clock;
  }

  TabletCalls tabletCalls() {
    return tabletCalls;
  }

  TableCalls tableCalls() {
    return tableCalls;
  }

  ServerCalls serverCalls() {
    return serverCalls;
  }

  LivingServers livingServers() {
    return livingServers;
  }

  Locations locations() {
    return locations;
  }

  RetryPolicy retry() {
    return retry;
  }

  ClientThreads threads() {
    return threads;
  }

  long deadlineFromNow() {
    return clock.nanos() + options.deadline().toNanos();
  }

  /** The limits of an attempt that begins now, as long as the options give one attempt. */
  CallLimits limits(Attempts attempts) {
    return new CallLimits(
        attempts.attemptDeadlineNanos(options.attemptTimeout().toNanos()),
        attempts.attempt(),
        attempts.sinceFirstMillis());
  }

  /** The limits of an attempt that may use all the time there is. */
  static CallLimits longLimits(Attempts attempts) {
    return new CallLimits(
        attempts.deadlineNanos(), attempts.attempt(), attempts.sinceFirstMillis());
  }

  boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Waits between two attempts, or until the client is closed. */
  void pause(long nanos) throws InterruptedException {
    closed.await(nanos, TimeUnit.NANOSECONDS);
  }

  SteleException closedException() {
    return closedException(false);
  }

  SteleException closedException(boolean outcomeUnknown) {
    return new SteleException(
        outcomeUnknown ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.UNAVAILABLE, "the client is closed");
  }

  /** Why no thread of the client takes a step of an asynchronous operation. */
  SteleException rejectedException(boolean outcomeUnknown) {
    return isClosed()
        ? closedException(outcomeUnknown)
        : new SteleException(
            outcomeUnknown ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.BUSY,
            "too many asynchronous operations wait in this client");
  }

  // ---- How operations are made of attempts

  /** Makes attempts until one succeeds or there is to be no other. */
  <R> R run(
      RetryPolicy.Operation operation, boolean changes, long deadlineNanos, Attempt<R> attempt) {
    Attempts attempts = retry.begin(operation, changes, deadlineNanos);
    try {
      while (true) {
        if (isClosed()) {
          throw closedException(attempts.isOutcomeUnknown());
        }
        try {
          return attempt.make(attempts);
        } catch (AttemptException e) {
          pause(attempts.failed(e));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(changes, operation.describe(), e);
    }
  }

  /** An operation of one server. */
  <R> R runAt(String address, String what, long deadlineNanos, ServerAttempt<R> attempt) {
    return run(
        () -> what + " at " + address,
        false,
        deadlineNanos,
        attempts -> attempt.make(longLimits(attempts)));
  }

  // ---- The end

  /** Registers a writer, so that it ends with the client. */
  void opened(BatchWriter writer) {
    writers.add(writer);
    if (isClosed()) {
      writer.abort();
    }
  }

  void ended(BatchWriter writer) {
    writers.remove(writer);
  }

  @Override
  public void close() {
    if (isClosed()) {
      return;
    }
    closed.countDown();
    writers.forEach(BatchWriter::abort);
    rpc.close();
    threads.close();
    coordination.close();
  }

  /** One attempt of an operation. */
  @FunctionalInterface
  interface Attempt<R> {
    R make(Attempts attempts) throws InterruptedException;
  }

  /** One attempt of an operation of one server. */
  @FunctionalInterface
  interface ServerAttempt<R> {
    R make(CallLimits limits) throws InterruptedException;
  }
}
