package org.stele.tserver.recovery;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.location.MetadataSchema;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileStore;
import org.stele.core.settings.Settings;
import org.stele.server.metadata.LogReference;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.compact.Compactor;
import org.stele.tserver.flush.Flusher;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletDescription;
import org.stele.tserver.tablet.TabletEnvironment;
import org.stele.tserver.tablet.TabletExtent;
import org.stele.tserver.tablet.TabletIdentity;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.wal.LogCursor;
import org.stele.tserver.wal.LogRecord;

/**
 * Opens and closes tablets of this server as the coordinator commands. Opening reads the tablet's
 * row, replays what logs of former servers hold above its flushed sequence, opens its files, and
 * has it flushed soon, so that the next recovery is no longer than this one. One tablet never waits
 * for another: each is tried again by itself, after a time that grows; one whose logs or files are
 * damaged says so, and is tried again too, in case an operator has decided.
 *
 * <p>Thread-safe. The work is done by the threads {@code tablet-open-N}, which this owns.
 */
public final class TabletOpener implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(TabletOpener.class);

  private static final int THREADS = 4;
  private static final long RETRY_LEAST_MILLIS = 100;
  private static final long RETRY_MOST_MILLIS = 10_000;
  private static final long DAMAGED_RETRY_MILLIS = 10_000;
  private static final long CLOSE_MILLIS = 10_000;

  /** The metadata tablet's: no server's file has a say in them. */
  private static final Settings METADATA_SETTINGS =
      Settings.of(Map.of("table.versions", "1", "table.durability", "sync"));

  // Constant.
  private final String session;
  private final MetadataStore store;
  private final OwnedTablets owned;
  private final TabletMap tablets;
  private final RecoveredLogs logs;
  private final Parts parts;
  private final ScheduledThreadPoolExecutor threads;

  // Own synchronization.
  private final AtomicInteger opening = new AtomicInteger();

  /**
   * What tablets need of their server.
   *
   * @param users environment of users' tablets
   * @param system environment of the metadata tablet
   */
  public record Parts(
      TabletEnvironment users, TabletEnvironment system, Flusher flusher, Compactor compactor) {}

  /**
   * @param session of this server
   * @param files where logs of former servers are
   * @param fence takes logs from their servers
   */
  public TabletOpener(
      String session,
      MetadataStore store,
      FileStore files,
      LogDirectories fence,
      OwnedTablets owned,
      TabletMap tablets,
      Parts parts) {
    this.session = session;
    this.store = store;
    this.logs = new RecoveredLogs(files, fence, parts.users().clock());
    this.owned = owned;
    this.tablets = tablets;
    this.parts = parts;
    AtomicInteger number = new AtomicInteger();
    this.threads =
        new ScheduledThreadPoolExecutor(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "tablet-open-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    threads.setRemoveOnCancelPolicy(true);
  }

  // ---- Opening

  /** Begins to open tablets that the metadata gives to this server; never blocks. Idempotent. */
  public void open(List<String> tabletIds) {
    List<OwnedTablet> users = new ArrayList<>();
    for (String tabletId : tabletIds) {
      OwnedTablet added = owned.add(tabletId);
      if (added == null) {
        continue;
      }
      if (tabletId.equals(MetadataSchema.TABLET_ID)) {
        later(() -> openRoot(added), 0);
      } else {
        users.add(added);
      }
    }
    if (!users.isEmpty()) {
      later(() -> openUsers(users), 0);
    }
  }

  private void later(Runnable task, long delayMillis) {
    try {
      var unused = threads.schedule(() -> run(task), delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("no tablet is opened any more: the server stops", e);
    }
  }

  /** An Error would vanish in the task's future: it is handed to those who end the server. */
  private static void run(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private void openRoot(OwnedTablet owner) {
    TabletRecord record;
    try {
      record = store.rootTablet();
    } catch (RuntimeException e) {
      LOG.warn("the root could not be read; tablet {} is opened later", owner.tabletId(), e);
      owned.remove(owner); // the coordinator commands it again
      return;
    }
    openOne(owner, record, METADATA_SETTINGS);
  }

  /** One walk over the metadata serves all tablets of the command. */
  private void openUsers(List<OwnedTablet> owners) {
    Map<String, TabletRecord> records = new HashMap<>();
    Map<String, TableRecord> tables = new HashMap<>();
    try {
      for (TabletRecord record : store.tablets()) {
        if (session.equals(record.session())) {
          records.put(record.tabletId(), record);
        }
      }
      store.tables().forEach(table -> tables.put(table.id(), table));
    } catch (RuntimeException e) {
      LOG.warn("the metadata could not be read; {} tablets are opened later", owners.size(), e);
      owners.forEach(owned::remove); // the coordinator commands it again
      return;
    }
    for (OwnedTablet owner : owners) {
      TabletRecord record = records.get(owner.tabletId());
      TableRecord table = record == null ? null : tables.get(record.tableId());
      if (record == null || table == null) {
        LOG.warn("tablet {} is not this server's: not opened", owner.tabletId());
        owned.remove(owner);
      } else {
        later(() -> openOne(owner, record, Settings.of(table.settings())), 0);
      }
    }
  }

  /** Opens a tablet, or tries it again later. */
  private void openOne(OwnedTablet owner, TabletRecord record, Settings tableSettings) {
    if (!session.equals(record.session())) {
      owned.remove(owner);
      return;
    }
    if (!owner.begin(record)) {
      return;
    }
    opening.incrementAndGet();
    try {
      replayAndOpen(owner, record, tableSettings);
    } catch (CorruptFileException e) {
      waitForAnOperator(
          owner,
          SteleException.corrupt(
              "tablet " + record.tabletId() + " cannot be served: " + e.getMessage(),
              e,
              e.file(),
              e.offset()));
      later(() -> again(owner, record, tableSettings), DAMAGED_RETRY_MILLIS);
    } catch (IOException | RuntimeException e) {
      int failures =
          owner.failed(
              new SteleException(
                  ErrorCode.UNAVAILABLE,
                  "tablet " + record.tabletId() + " is not open yet: " + e.getMessage(),
                  e));
      long delay = Math.min(RETRY_LEAST_MILLIS << Math.min(failures - 1, 20), RETRY_MOST_MILLIS);
      LOG.warn("tablet {} is opened again in {} ms", record.tabletId(), delay, e);
      later(() -> again(owner, record, tableSettings), delay);
    } finally {
      if (opening.decrementAndGet() == 0) {
        logs.forget();
      }
    }
  }

  /** It is told once, not each time that the tablet is tried in vain. */
  private static void waitForAnOperator(OwnedTablet owner, SteleException reason) {
    SteleException before = owner.failure();
    if (before == null || !Objects.equals(before.getMessage(), reason.getMessage())) {
      LOG.error(reason.getMessage());
    }
    owner.failed(reason);
  }

  /** The row may have changed since: its files and references are read anew. */
  private void again(OwnedTablet owner, TabletRecord before, Settings tableSettings) {
    TabletRecord now;
    try {
      boolean root = before.tabletId().equals(MetadataSchema.TABLET_ID);
      now = root ? store.rootTablet() : store.tablet(before.row());
    } catch (RuntimeException e) {
      LOG.warn("the row of tablet {} could not be read", before.tabletId(), e);
      later(() -> again(owner, before, tableSettings), RETRY_MOST_MILLIS);
      return;
    }
    if (now == null || !session.equals(now.session()) || now.epoch() != before.epoch()) {
      owned.remove(owner);
    } else {
      openOne(owner, now, tableSettings);
    }
  }

  private void replayAndOpen(OwnedTablet owner, TabletRecord record, Settings tableSettings)
      throws IOException {
    boolean system = record.tabletId().equals(MetadataSchema.TABLET_ID);
    Tablet tablet =
        new Tablet(
            describe(record, tableSettings, system), system ? parts.system() : parts.users());
    long replayed = 0;
    try {
      replayed = replay(tablet, record, system);
      tablet.open();
      tablets.add(tablet);
    } catch (IOException | RuntimeException e) {
      discard(tablet, e);
      throw e;
    }
    owner.opened(tablet, replayed);
    LOG.info("{} is open{}", tablet, replayed == 0 ? "" : ", with what was replayed from logs");
    if (!record.logs().isEmpty()) {
      // Logs of former servers are not to be needed for long. A flush that has nothing to write
      // removes the references too, and is repeated until the metadata has taken it.
      parts.flusher().request(tablet);
    }
  }

  /** Gives back what a tablet holds that could not be opened. */
  private static void discard(Tablet tablet, Exception cause) {
    try {
      tablet.fail(String.valueOf(cause.getMessage()));
      tablet.close();
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private static TabletDescription describe(
      TabletRecord record, Settings tableSettings, boolean system) {
    return new TabletDescription(
        new TabletIdentity(record.tabletId(), record.tableId(), record.epoch()),
        new TabletExtent(record.tableId(), record.previousEndRow(), record.endRow()),
        record.files().stream().map(MetadataFileCatalog::reference).toList(),
        record.flushed(),
        record.timeFloor(),
        tableSettings,
        system);
  }

  /** Replays the logs of former servers, the oldest first; returns the last sequence replayed. */
  private long replay(Tablet tablet, TabletRecord record, boolean system) throws IOException {
    List<LogReference> oldestFirst =
        record.logs().stream().sorted(Comparator.comparingInt(LogReference::epoch)).toList();
    long last = 0;
    for (LogReference log : oldestFirst) {
      try (LogCursor cursor =
          logs.of(log.session(), system)
              .records(tablet.tabletId(), epoch -> epoch == log.epoch(), record.flushed())) {
        for (LogRecord found = cursor.next(); found != null; found = cursor.next()) {
          tablet.replay(found);
          last = found.lastSequence();
        }
      }
    }
    return last;
  }

  // ---- Closing

  /**
   * Closes a tablet; done at once if it is not here.
   *
   * @param flush false: what is in no file is given up; only for tablets of a table that is deleted
   * @return done when the tablet is closed; holds no thread meanwhile
   */
  public CompletableFuture<Void> close(String tabletId, boolean flush) {
    OwnedTablet owner = owned.get(tabletId);
    if (owner == null) {
      return CompletableFuture.completedFuture(null);
    }
    Tablet tablet = owner.tablet();
    if (tablet == null) {
      if (!owner.takeAway()) {
        return CompletableFuture.failedFuture(
            new SteleException(
                ErrorCode.UNAVAILABLE, "tablet " + tabletId + " is just being opened"));
      }
      owned.remove(owner);
      return CompletableFuture.completedFuture(null);
    }
    return tablet
        .stopWrites()
        .thenCompose(settled -> flush ? flush(tablet) : CompletableFuture.completedFuture(null))
        .thenRun(() -> closeSettled(owner, tablet));
  }

  /** A tablet that failed cannot be flushed: it stays, so that its logs stay. */
  private CompletableFuture<Void> flush(Tablet tablet) {
    return tablet.servesReads()
        ? parts.flusher().flushSoon(tablet)
        : CompletableFuture.failedFuture(
            new SteleException(
                ErrorCode.UNAVAILABLE, tablet + " cannot be flushed: " + tablet.failure()));
  }

  private void closeSettled(OwnedTablet owner, Tablet tablet) {
    tablets.remove(tablet);
    parts.flusher().forget(tablet);
    parts.compactor().forget(tablet);
    tablet.close();
    tablet.log().flushed(tablet.tabletId(), tablet.publishedSequence());
    owned.remove(owner);
    LOG.info("{} is closed", tablet);
  }

  /** Opens nothing any more; what is open stays. Idempotent. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("a tablet is still being opened");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
