package org.stele.tserver.flush;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.settings.StandardSettings;
import org.stele.core.sortedfile.SortedFileOptions;
import org.stele.core.time.Clock;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.files.FileReference;
import org.stele.tserver.files.NewFile;
import org.stele.tserver.files.OpenFiles;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.maintenance.TabletJobs;
import org.stele.tserver.maintenance.WrittenFile;
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
 * A step that fails is repeated by {@link TabletJobs}, from the commit on with the same file.
 *
 * <p>Thread-safe; owns the threads flush-N and flush-system-0.
 */
public final class Flusher implements TabletEvents, Closeable {
  private final FileNames names;
  private final Consumer<Tablet> whenFlushed;
  private final TabletJobs<FrozenMemtable> jobs;

  /**
   * @param threads 0: only {@link #runOnce} flushes
   * @param whenFlushed hears of a tablet whose files changed; must not block
   */
  public Flusher(int threads, FileNames names, Clock clock, Consumer<Tablet> whenFlushed) {
    this.names = names;
    this.whenFlushed = whenFlushed;
    this.jobs = new TabletJobs<>("flush", threads, clock, new Flush(), Tablet::memtableBytes);
  }

  public Flusher start() {
    jobs.start();
    return this;
  }

  @Override
  public void memtableFull(Tablet tablet) {
    request(tablet);
  }

  /** Flushes the tablet soon. */
  public void request(Tablet tablet) {
    jobs.request(tablet);
  }

  /** The future is done when all that was visible at this call is in files that metadata names. */
  public CompletableFuture<Void> flushSoon(Tablet tablet) {
    return jobs.submit(tablet);
  }

  /** The tablet leaves this server: flushes that were asked for and not done fail. */
  public void forget(Tablet tablet) {
    jobs.forget(tablet);
  }

  public boolean isPending(Tablet tablet) {
    return jobs.isPending(tablet);
  }

  /** Tablets that are being flushed or will be. */
  public int pending() {
    return jobs.pending();
  }

  public long failures() {
    return jobs.failures();
  }

  /** Flushes one tablet that is due, on the calling thread; false: none was. */
  public boolean runOnce() {
    return jobs.runOnce();
  }

  /** Takes no more work; waits for what goes on, for a bounded time. Idempotent. */
  @Override
  public void close() {
    jobs.close();
  }

  private final class Flush implements TabletJobs.Job<FrozenMemtable> {
    @Override
    public @Nullable WrittenFile<FrozenMemtable> write(Tablet tablet) throws IOException {
      FrozenMemtable frozen = tablet.freeze();
      if (frozen == null) {
        return null;
      }
      OpenFiles files = tablet.environment().files();
      SortedFileOptions options = SortedFileOptions.of(tablet.tableId(), tablet.settings());
      NewFile file;
      try (VersionCursor cells =
          VersionCursor.compact(
              frozen.memtable().cursor(),
              tablet.settings().get(StandardSettings.TABLE_VERSIONS),
              frozen.oldest())) {
        file = NewFile.write(files.store(), names, options, cells);
      }
      if (file == null) {
        return new WrittenFile<>(frozen, null, !frozen.memtable().isEmpty());
      }
      return new WrittenFile<>(
          frozen,
          TabletFile.of(
              file.reference(frozen.firstSequence(), frozen.lastSequence()),
              files.open(tablet.tableId(), file.fileId())),
          file.summary().properties().entries() < frozen.memtable().cells());
    }

    @Override
    public boolean finish(Tablet tablet, WrittenFile<FrozenMemtable> written) throws IOException {
      FrozenMemtable frozen = written.input();
      TabletFile file = written.file();
      FileReference reference = file == null ? null : file.reference();
      tablet
          .environment()
          .catalog()
          .commitFlush(tablet.identity(), reference, frozen.lastSequence(), frozen.timeFloor());
      tablet.flushed(frozen, file, written.dropped());
      tablet.environment().log().flushed(tablet.tabletId(), frozen.lastSequence());
      whenFlushed.accept(tablet);
      return false;
    }
  }
}
