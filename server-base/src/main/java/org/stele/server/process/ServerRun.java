package org.stele.server.process;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.error.SteleException;
import org.stele.core.settings.SettingException;

/**
 * Runs a server as the process it is in: starts it, waits for a reason to end (a signal, or
 * something that broke), closes it, and says with which code the process is to exit. The last line
 * of the log names the cause of a failure.
 *
 * <p>SIGTERM and SIGINT lead to an orderly end with exit code 0. If closing takes longer than it
 * may the process is ended without it: what was acknowledged is in the log. A process that has run
 * out of threads ends as well: the thread that sees to it is made before anything else.
 */
public final class ServerRun {
  private static final Logger LOG = LoggerFactory.getLogger(ServerRun.class);

  /** Flushing everything may take a while; a broken server has nothing to wait for. */
  private static final Duration ORDERLY_CLOSE = Duration.ofSeconds(60);

  private static final Duration FATAL_CLOSE = Duration.ofSeconds(5);

  /** From the end of the server to the end of the process. */
  private static final Duration EXIT = Duration.ofSeconds(10);

  private static final int OK = 0;
  private static final int FAILED = 1;

  private final String name;
  private final Stop stop;
  private final Body body;
  private final ProcessEnd process;
  private final Limits limits;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CompletableFuture<Stop.Reason> closing = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  private volatile int exitCode = FAILED;

  public ServerRun(String name, Stop stop, Body body) {
    this(name, stop, body, new VirtualMachineEnd(), new Limits(ORDERLY_CLOSE, FATAL_CLOSE, EXIT));
  }

  ServerRun(String name, Stop stop, Body body, ProcessEnd process, Limits limits) {
    this.name = name;
    this.stop = stop;
    this.body = body;
    this.process = process;
    this.limits = limits;
  }

  /** How long things may take. */
  record Limits(Duration orderlyClose, Duration fatalClose, Duration exit) {}

  /**
   * Starts, waits for the end, closes. Called by the main thread, once.
   *
   * @return the exit code, with which the caller ends the process soon
   */
  public int run() {
    Thread hook = new Thread(this::onShutdown, "shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) ->
            stop.fatal("thread " + thread.getName() + " died: " + describe(failure), failure));
    int code = FAILED;
    try {
      code = startAndWait();
    } finally {
      exitCode = code;
      ended.countDown();
      removeHook(hook);
    }
    return code;
  }

  private int startAndWait() {
    // Made before anything else: when the system has run out of threads, closing still works.
    Thread watch = new Thread(this::watchTheEnd, "close-watch");
    watch.setDaemon(true);
    watch.start();
    Stop.Reason reason;
    Closer closer = new Closer();
    try {
      body.start(closer);
      reason = stop.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reason = new Stop.Reason("interrupted", e, true);
    } catch (Exception e) {
      Stop.Reason first = stop.reason();
      reason = first != null ? first : new Stop.Reason(describe(e), e, true);
    } catch (Error e) {
      reason = new Stop.Reason(describe(e), e, true);
    }
    return close(closer, reason);
  }

  private int close(Closer closer, Stop.Reason reason) {
    closing.complete(reason);
    try {
      closer.close();
    } catch (Exception e) {
      LOG.warn("{}: not everything could be closed", name, e);
      if (!reason.fatal()) {
        reason = new Stop.Reason("could not stop in order: " + describe(e), e, true);
      }
    } finally {
      closed.countDown();
    }
    if (reason.fatal()) {
      if (stop.reason() == null) { // else it is in the log already
        LOG.warn("{} could not start", name, reason.cause());
      }
      LOG.error("{} ended: {}", name, reason.what());
      return FAILED;
    }
    LOG.info("{} ended: {}", name, reason.what());
    return OK;
  }

  /** Ends the process if closing hangs, or the exit after it. */
  private void watchTheEnd() {
    Stop.Reason reason = closing.join();
    Duration limit = reason.fatal() ? limits.fatalClose : limits.orderlyClose;
    try {
      if (!closed.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.error(
            "{} ended without closing everything within {} s: {}",
            name,
            limit.toSeconds(),
            reason.what());
        process.halt(FAILED);
      }
      ended.await();
      TimeUnit.MILLISECONDS.sleep(limits.exit.toMillis());
      process.force();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody interrupts it but the end of the process
    }
  }

  private void onShutdown() {
    stop.request("signal to end");
    try {
      if (!ended.await(limits.orderlyClose.toMillis() + 1000, TimeUnit.MILLISECONDS)) {
        process.halt(FAILED);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // The virtual machine would exit with 128 + the signal's number.
    process.halt(exitCode);
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      LOG.trace("the virtual machine is shutting down", e);
    }
  }

  /** One line with the messages of the failure and its causes, each once. */
  static String describe(Throwable failure) {
    StringBuilder text = new StringBuilder(describeOne(failure));
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      String message = cause.getMessage();
      if (message == null || text.indexOf(message) < 0) {
        text.append(": ").append(describeOne(cause));
      }
    }
    return text.toString();
  }

  /** Messages of these kinds of failure say all; those of others need the kind's name. */
  private static String describeOne(Throwable failure) {
    String message = failure.getMessage();
    if (failure instanceof OutOfMemoryError && message != null && message.contains("thread")) {
      return "no more threads: the limit of processes (ulimit -u) or memory is too small ("
          + message
          + ")";
    }
    String kind = failure.getClass().getSimpleName();
    if (message == null) {
      return kind;
    }
    boolean saysAll =
        failure instanceof StartException
            || failure instanceof SteleException
            || failure instanceof SettingException
            || failure instanceof CoordinationException
            || failure.getClass() == IOException.class;
    return saysAll ? message : kind + ": " + message;
  }

  /** What is run. */
  @FunctionalInterface
  public interface Body {
    /** Makes and starts all parts, adding each to the closer as soon as it is there. */
    void start(Closer closer) throws Exception;
  }
}
