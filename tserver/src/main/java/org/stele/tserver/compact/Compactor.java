package org.stele.tserver.compact;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.BoundedCursor;
import org.stele.core.cursor.CellCursor;
import org.stele.core.cursor.MergingCursor;
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
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletState;
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
  private final TabletJobs users;
  private final TabletJobs system;

  // Own synchronization.
  private final Set<Tablet> wholeRequested = ConcurrentHashMap.newKeySet();
  private final Map<Tablet, WrittenCompaction> written = new ConcurrentHashMap<>();

  /** A merged file that is not yet committed: null if nothing was left to write. */
  private record WrittenCompaction(
      List<TabletFile> removed,
      @Nullable FileReference reference,
      @Nullable OpenFile file,
      boolean dropped) {}

  /**
   * @param threads 0: only {@link #runOnce} compacts
   */
  public Compactor(int threads, FileNames names, Clock clock) {
    this.names = names;
    this.users = new TabletJobs("compact", threads, clock, this::compact, Compactor::urgency);
    this.system =
        new TabletJobs(
            "compact-system", Math.min(threads, 1), clock, this::compact, Compactor::urgency);
  }

  /** Files above the bound; tablets with as many files more than others may have are next. */
  private static long urgency(Tablet tablet) {
    return (long) tablet.files().size() - tablet.settings().get(StandardSettings.TABLE_FILES_MAX);
  }

  public Compactor start() {
    users.start();
    system.start();
    return this;
  }

  private TabletJobs jobs(Tablet tablet) {
    return tablet.isSystem() ? system : users;
  }

  /** Looks soon whether files of the tablet are to be merged. */
  public void request(Tablet tablet) {
    jobs(tablet).request(tablet);
  }

  /**
   * The future is done when all files that the tablet has at this call are one, without what is
   * deleted or surplus.
   */
  public CompletableFuture<Void> compactWhole(Tablet tablet) {
    wholeRequested.add(tablet);
    return jobs(tablet).submit(tablet);
  }

  /** The tablet leaves this server: compactions that were asked for and not done fail. */
  public void forget(Tablet tablet) {
    jobs(tablet).cancel(tablet);
    wholeRequested.remove(tablet);
    WrittenCompaction left = written.remove(tablet);
    if (left != null && left.file != null) {
      left.file.release();
    }
  }

  public int pending() {
    return users.pending() + system.pending();
  }

  public long failures() {
    return users.failures() + system.failures();
  }

  /** Compacts one tablet that is due, on the calling thread; false: none was. */
  public boolean runOnce() {
    return system.runOnce() || users.runOnce();
  }

  private boolean compact(Tablet tablet) throws IOException {
    if (tablet.state() != TabletState.OPEN) {
      return false;
    }
    WrittenCompaction before = written.get(tablet);
    if (before != null) {
      finish(tablet, before);
      return true;
    }
    boolean whole = wholeRequested.remove(tablet);
    boolean done = false;
    try (TabletView view = tablet.openView()) {
      List<TabletFile> chosen = choose(tablet, view.files(), whole);
      if (!chosen.isEmpty()) {
        WrittenCompaction compaction = write(tablet, chosen, isOldest(view.files(), chosen));
        written.put(tablet, compaction);
        finish(tablet, compaction);
      }
      done = true;
      return !chosen.isEmpty() && !whole;
    } finally {
      if (whole && !done && !written.containsKey(tablet)) {
        wholeRequested.add(tablet);
      }
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

  private WrittenCompaction write(Tablet tablet, List<TabletFile> chosen, boolean dropDeletes)
      throws IOException {
    OpenFiles files = tablet.environment().files();
    NewFile file;
    try (VersionCursor cells =
        VersionCursor.compact(
            MergingCursor.of(cursors(chosen)),
            tablet.settings().get(StandardSettings.TABLE_VERSIONS),
            dropDeletes)) {
      file =
          NewFile.write(
              files.store(),
              names,
              SortedFileOptions.of(tablet.tableId(), tablet.settings()),
              cells);
    }
    List<TabletFile> removed = List.copyOf(chosen);
    if (file == null) {
      return new WrittenCompaction(removed, null, null, true);
    }
    long entries = chosen.stream().mapToLong(one -> one.reference().entries()).sum();
    return new WrittenCompaction(
        removed,
        file.reference(
            chosen.get(0).reference().firstSequence(),
            chosen.get(chosen.size() - 1).reference().lastSequence()),
        files.open(tablet.tableId(), file.fileId()),
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

  private void finish(Tablet tablet, WrittenCompaction compaction) throws IOException {
    List<FileReference> removed = compaction.removed.stream().map(TabletFile::reference).toList();
    tablet
        .environment()
        .catalog()
        .commitCompaction(tablet.identity(), removed, compaction.reference);
    TabletFile added =
        compaction.reference == null || compaction.file == null
            ? null
            : TabletFile.of(compaction.reference, compaction.file);
    tablet.compacted(compaction.removed, added, compaction.dropped);
    written.remove(tablet, compaction);
    if (compaction.file != null) {
      compaction.file.release();
    }
  }

  /** Takes no more work; waits for what goes on, for a bounded time. Idempotent. */
  @Override
  public void close() {
    users.close();
    system.close();
  }
}
