package org.stele.tserver.flush;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.settings.StandardSettings;
import org.stele.core.sortedfile.SortedFileOptions;
import org.stele.core.time.Clock;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.files.FileReference;
import org.stele.tserver.files.NewFile;
import org.stele.tserver.files.OpenFile;
import org.stele.tserver.files.OpenFiles;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.maintenance.TabletJobs;
import org.stele.tserver.tablet.FrozenMemtable;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletEvents;

/**
 * Brings memtables into sorted files. One flush of a tablet, step by step:
 *
 * <pre>
 *   freeze     the active memtable ends at a sequence S up to which everything is settled
 *   write      a sorted file of it, synced and closed, then opened
 *   commit     metadata: the file, and that all up to S is in files
 *   install    the tablet's view has the file in place of the memtable
 *   log        hears that nothing up to S is needed any more: the last step, never before the commit
 * </pre>
 *
 * A step that fails is repeated by {@link TabletJobs}, from the commit on with the same file. The
 * system's tablets have a thread of their own, because users' flushes wait for them.
 *
 * <p>Thread-safe; owns the threads flush-N and flush-system-0.
 */
public final class Flusher implements TabletEvents, Closeable {
  private final FileNames names;
  private final Consumer<Tablet> whenFlushed;
  private final TabletJobs users;
  private final TabletJobs system;

  /** Files that are written but not yet committed. */
  private final Map<Tablet, WrittenFlush> written = new ConcurrentHashMap<>();

  /** A frozen memtable's file: null if there was nothing to write. */
  private record WrittenFlush(
      FrozenMemtable frozen,
      @Nullable FileReference reference,
      @Nullable OpenFile file,
      boolean dropped) {}

  /**
   * @param threads 0: only {@link #runOnce} flushes
   * @param whenFlushed hears of a tablet whose files changed; must not block
   */
  public Flusher(int threads, FileNames names, Clock clock, Consumer<Tablet> whenFlushed) {
    this.names = names;
    this.whenFlushed = whenFlushed;
    this.users = new TabletJobs("flush", threads, clock, this::flush, Tablet::memtableBytes);
    this.system =
        new TabletJobs(
            "flush-system", Math.min(threads, 1), clock, this::flush, Tablet::memtableBytes);
  }

  public Flusher start() {
    users.start();
    system.start();
    return this;
  }

  private TabletJobs jobs(Tablet tablet) {
    return tablet.isSystem() ? system : users;
  }

  @Override
  public void memtableFull(Tablet tablet) {
    request(tablet);
  }

  /** Flushes the tablet soon. */
  public void request(Tablet tablet) {
    jobs(tablet).request(tablet);
  }

  /** The future is done when all that was visible at this call is in files that metadata names. */
  public CompletableFuture<Void> flushSoon(Tablet tablet) {
    return jobs(tablet).submit(tablet);
  }

  /** The tablet leaves this server: flushes that were asked for and not done fail. */
  public void forget(Tablet tablet) {
    jobs(tablet).cancel(tablet);
    WrittenFlush left = written.remove(tablet);
    if (left != null && left.file != null) {
      left.file.release();
    }
  }

  public boolean isPending(Tablet tablet) {
    return jobs(tablet).isPending(tablet);
  }

  /** Tablets that are being flushed or will be. */
  public int pending() {
    return users.pending() + system.pending();
  }

  public long failures() {
    return users.failures() + system.failures();
  }

  /** Flushes one tablet that is due, on the calling thread; false: none was. */
  public boolean runOnce() {
    return system.runOnce() || users.runOnce();
  }

  private boolean flush(Tablet tablet) throws IOException {
    long target = tablet.publishedSequence();
    FrozenMemtable frozen = tablet.freeze();
    if (frozen == null) {
      return false;
    }
    WrittenFlush flush = write(tablet, frozen);
    tablet
        .environment()
        .catalog()
        .commitFlush(tablet.identity(), flush.reference, frozen.lastSequence(), frozen.timeFloor());
    install(tablet, flush);
    tablet.environment().log().flushed(tablet.tabletId(), frozen.lastSequence());
    whenFlushed.accept(tablet);
    return Long.compareUnsigned(frozen.lastSequence(), target) < 0;
  }

  /** Writes the file, unless an attempt before has done that. */
  private WrittenFlush write(Tablet tablet, FrozenMemtable frozen) throws IOException {
    WrittenFlush before = written.get(tablet);
    if (before != null && before.frozen.equals(frozen)) {
      return before;
    }
    WrittenFlush flush = writeFile(tablet, frozen);
    written.put(tablet, flush);
    return flush;
  }

  private WrittenFlush writeFile(Tablet tablet, FrozenMemtable frozen) throws IOException {
    OpenFiles files = tablet.environment().files();
    SortedFileOptions options = SortedFileOptions.of(tablet.tableId(), tablet.settings());
    NewFile file;
    try (VersionCursor cells =
        VersionCursor.compact(
            frozen.memtable().cursor(),
            tablet.settings().get(StandardSettings.TABLE_VERSIONS),
            tablet.files().isEmpty())) {
      file = NewFile.write(files.store(), names, options, cells);
    }
    if (file == null) {
      return new WrittenFlush(frozen, null, null, !frozen.memtable().isEmpty());
    }
    boolean dropped = file.summary().properties().entries() < frozen.memtable().cells();
    return new WrittenFlush(
        frozen,
        file.reference(frozen.firstSequence(), frozen.lastSequence()),
        files.open(tablet.tableId(), file.fileId()),
        dropped);
  }

  private void install(Tablet tablet, WrittenFlush flush) {
    TabletFile file =
        flush.reference == null || flush.file == null
            ? null
            : TabletFile.of(flush.reference, flush.file);
    tablet.flushed(flush.frozen, file, flush.dropped);
    written.remove(tablet, flush);
    if (flush.file != null) {
      flush.file.release();
    }
  }

  /** Takes no more work; waits for what goes on, for a bounded time. Idempotent. */
  @Override
  public void close() {
    users.close();
    system.close();
  }
}
