package org.stele.tserver.compact;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.BoundedCursor;
import org.stele.core.cursor.CellCursor;
import org.stele.core.cursor.MergingCursor;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
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
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletView;

/**
 * Merges sorted files of a tablet into one: runs that {@link SizeTiers} chooses, or all of them on
 * request. Reads go on meanwhile, on the files as they were. A compaction, step by step:
 *
 * <pre>
 *   choose     neighbours in the order of sequences; delete markers go only with the oldest file
 *   write      the merged file, synced and closed, then opened; blocks read pass the cache by
 *   commit     metadata: the new file in place of the others
 *   install    the tablet's view likewise; the others are deleted when no view uses them
 * </pre>
 *
 * A step that fails is repeated by {@link TabletJobs}, from the commit on with the same file.
 * Tablets furthest above their bound of files come first. Thread-safe; owns the threads compact-N
 * and compact-system-0.
 */
public final class Compactor implements Closeable {
  private final FileNames names;
  private final TabletJobs<Merge> jobs;

  // Own synchronization.
  private final Set<Tablet> wholeRequested = ConcurrentHashMap.newKeySet();

  /**
   * What a merged file is made from.
   *
   * @param whole whether that was all the files there were
   */
  private record Merge(List<TabletFile> files, boolean whole) {}

  /**
   * @param threads 0: only {@link #runOnce} compacts
   */
  public Compactor(int threads, FileNames names, Clock clock) {
    this.names = names;
    this.jobs = new TabletJobs<>("compact", threads, clock, new Compaction(), Compactor::urgency);
  }

  /** Files above the bound; tablets with as many files more than others may have are next. */
  private static long urgency(Tablet tablet) {
    return (long) tablet.files().size() - tablet.settings().get(StandardSettings.TABLE_FILES_MAX);
  }

  public Compactor start() {
    jobs.start();
    return this;
  }

  /** Looks soon whether files of the tablet are to be merged. */
  public void request(Tablet tablet) {
    jobs.request(tablet);
  }

  /**
   * The future is done when all files that the tablet has at this call are one, without what is
   * deleted or surplus.
   */
  public CompletableFuture<Void> compactWhole(Tablet tablet) {
    wholeRequested.add(tablet);
    return jobs.submit(tablet);
  }

  /** The tablet leaves this server: compactions that were asked for and not done fail. */
  public void forget(Tablet tablet) {
    jobs.forget(tablet);
    wholeRequested.remove(tablet);
  }

  public int pending() {
    return jobs.pending();
  }

  public long failures() {
    return jobs.failures();
  }

  /** Compacts one tablet that is due, on the calling thread; false: none was. */
  public boolean runOnce() {
    return jobs.runOnce();
  }

  /** Takes no more work; waits for what goes on, for a bounded time. Idempotent. */
  @Override
  public void close() {
    jobs.close();
  }

  private final class Compaction implements TabletJobs.Job<Merge> {
    @Override
    public @Nullable WrittenFile<Merge> write(Tablet tablet) throws IOException {
      boolean whole = wholeRequested.remove(tablet);
      if (!tablet.takesWrites()) {
        throw new SteleException(
            ErrorCode.NOT_SERVING, tablet + " closes: its files are not merged any more");
      }
      boolean done = false;
      try (TabletView view = tablet.openView()) {
        List<TabletFile> chosen = choose(tablet, view.files(), whole);
        WrittenFile<Merge> written =
            chosen.isEmpty()
                ? null
                : merge(tablet, new Merge(chosen, whole), isOldest(view.files(), chosen));
        done = true;
        return written;
      } finally {
        if (whole && !done) {
          wholeRequested.add(tablet);
        }
      }
    }

    @Override
    public boolean finish(Tablet tablet, WrittenFile<Merge> written) throws IOException {
      List<TabletFile> removed = written.input().files();
      TabletFile added = written.file();
      tablet
          .environment()
          .catalog()
          .commitCompaction(
              tablet.identity(),
              removed.stream().map(TabletFile::reference).toList(),
              added == null ? null : added.reference());
      tablet.compacted(removed, added, written.dropped());
      return !written.input().whole();
    }
  }

  private static List<TabletFile> choose(Tablet tablet, List<TabletFile> files, boolean whole) {
    if (whole) {
      return files;
    }
    long[] sizes = files.stream().mapToLong(file -> file.reference().size()).toArray();
    SizeTiers.Run run =
        SizeTiers.choose(sizes, tablet.settings().get(StandardSettings.TABLE_FILES_MAX));
    return run == null ? List.of() : files.subList(run.from(), run.to());
  }

  private static boolean isOldest(List<TabletFile> files, List<TabletFile> chosen) {
    return files.get(0).equals(chosen.get(0));
  }

  private WrittenFile<Merge> merge(Tablet tablet, Merge merge, boolean dropDeletes)
      throws IOException {
    OpenFiles files = tablet.environment().files();
    List<TabletFile> from = merge.files();
    NewFile file;
    try (VersionCursor cells =
        VersionCursor.compact(
            MergingCursor.of(cursors(from)),
            tablet.settings().get(StandardSettings.TABLE_VERSIONS),
            dropDeletes)) {
      file =
          NewFile.write(
              files.store(),
              names,
              SortedFileOptions.of(tablet.tableId(), tablet.settings()),
              cells);
    }
    if (file == null) {
      return new WrittenFile<>(merge, null, true);
    }
    long entries = from.stream().mapToLong(one -> one.reference().entries()).sum();
    FileReference reference =
        file.reference(
            from.get(0).reference().firstSequence(),
            from.get(from.size() - 1).reference().lastSequence());
    return new WrittenFile<>(
        merge,
        TabletFile.of(reference, files.open(tablet.tableId(), file.fileId())),
        file.summary().properties().entries() < entries);
  }

  private static List<CellCursor> cursors(List<TabletFile> files) {
    List<CellCursor> cursors = new ArrayList<>();
    for (TabletFile file : files) {
      CellCursor cursor = file.reader().cursor(false);
      byte[] lower = file.lowerKey();
      cursors.add(
          file.reference().isClipped()
              ? new BoundedCursor(cursor, lower == null ? new byte[0] : lower, file.upperKey())
              : cursor);
    }
    return cursors;
  }
}
