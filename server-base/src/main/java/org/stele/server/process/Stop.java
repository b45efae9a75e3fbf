package org.stele.server.process;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why and when a server ends. Any thread may ask for the end; the first reason counts. The thread
 * that runs the server waits here and then closes the server's parts.
 */
public final class Stop {
  private static final Logger LOG = LoggerFactory.getLogger(Stop.class);

  private final AtomicReference<@Nullable Reason> reason = new AtomicReference<>();
  private final CountDownLatch asked = new CountDownLatch(1);

  /** Asks for an orderly end: everything is flushed. */
  public void request(String why) {
    end(new Reason(why, null, false));
  }

  /**
   * Asks for the end because something broke that must not be worked around. Nothing is flushed.
   */
  public void fatal(String what, @Nullable Throwable cause) {
    end(new Reason(what, cause, true));
  }

  private void end(Reason why) {
    if (reason.compareAndSet(null, why)) {
      if (why.fatal()) {
        LOG.error("stopping: {}", why.what(), why.cause());
      } else {
        LOG.info("stopping: {}", why.what());
      }
      asked.countDown();
    }
  }

  public boolean isRequested() {
    return reason.get() != null;
  }

  /** The reason, or null while there is none. */
  public @Nullable Reason reason() {
    return reason.get();
  }

  /** Waits until the end is asked for. */
  public Reason await() throws InterruptedException {
    asked.await();
    return given();
  }

  /** Waits for a while; null if the end was not asked for. */
  public @Nullable Reason await(long time, TimeUnit unit) throws InterruptedException {
    return asked.await(time, unit) ? given() : null;
  }

  private Reason given() {
    Reason given = reason.get();
    if (given == null) {
      throw new IllegalStateException("the end was asked for without a reason");
    }
    return given;
  }

  /** Why a server ends; fatal: something broke, and the process ends with a failure. */
  public record Reason(String what, @Nullable Throwable cause, boolean fatal) {}
}
