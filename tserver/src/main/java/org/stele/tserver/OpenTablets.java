package org.stele.tserver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.time.Clock;
import org.stele.server.process.Stop;
import org.stele.tserver.recovery.TabletOpener;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletMap;

/**
 * The tablets of a server that ends: its orderly close flushes and closes them all, the metadata
 * tablet last, since the others write to it. After a failure nothing is flushed: everything
 * acknowledged is in the logs.
 */
final class OpenTablets implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenTablets.class);
  private static final Duration LIMIT = Duration.ofSeconds(45);

  private final TabletMap tablets;
  private final TabletOpener opener;
  private final Clock clock;
  private final Stop stop;
  private final Runnable whenAllFlushed;

  /**
   * @param whenAllFlushed called if no log of this server is needed any more
   */
  OpenTablets(
      TabletMap tablets, TabletOpener opener, Clock clock, Stop stop, Runnable whenAllFlushed) {
    this.tablets = tablets;
    this.opener = opener;
    this.clock = clock;
    this.stop = stop;
    this.whenAllFlushed = whenAllFlushed;
  }

  @Override
  public void close() {
    Stop.Reason reason = stop.reason();
    if (reason != null && reason.fatal()) {
      return;
    }
    opener.close();
    long end = clock.nanos() + LIMIT.toNanos();
    List<Tablet> users = tablets.all().stream().filter(tablet -> !tablet.isSystem()).toList();
    List<Tablet> system = tablets.all().stream().filter(Tablet::isSystem).toList();
    if (close(users, end) && close(system, end) && tablets.size() == 0) {
      whenAllFlushed.run();
    }
  }

  /** False: not all could be flushed and closed. */
  private boolean close(List<Tablet> some, long end) {
    List<CompletableFuture<Void>> closing = new ArrayList<>();
    some.forEach(tablet -> closing.add(opener.close(tablet.tabletId(), true)));
    try {
      CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
          .get(Math.max(1, end - clock.nanos()), TimeUnit.NANOSECONDS);
      LOG.info("{} tablets are flushed and closed", some.size());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("not all tablets could be flushed; what is missing is in the logs", e);
    }
    return false;
  }
}
