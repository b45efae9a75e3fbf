package org.stele.tserver.tablet;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Durability;
import org.stele.core.data.Sequence;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.tserver.files.FileReference;
import org.stele.tserver.files.FileSet;
import org.stele.tserver.files.OpenFile;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.wal.LogRecord;
import org.stele.tserver.wal.WriteAheadLog;
import org.stele.tserver.write.MemoryBudget;
import org.stele.tserver.write.Pace;
import org.stele.tserver.write.TabletWrite;
import org.stele.tserver.write.WriteTarget;

/**
 * One tablet served by this server: its cells, in memtables and sorted files, and its place in the
 * write path. Life: the constructor, {@link #replay} for each record of its logs, {@link #open};
 * then reads and writes; {@link #stopWrites}, {@link #close}.
 *
 * <h2>What always holds</h2>
 *
 * <ul>
 *   <li>The current {@link ViewState} holds every cell up to {@link #publishedSequence}, which
 *       never goes back and moves over whole writes only.
 *   <li>A new memtable takes the place of the active one before anything of the new one is
 *       published. So a reader that finds a state current after it has read the published sequence
 *       sees all of it.
 *   <li>Sequences are placed, settled and published in one order. What is settled is applied, or
 *       given up because the log failed.
 *   <li>Versions are dropped by a flush or compaction only as of a sequence that is published, and
 *       {@link ViewState#oldestReadable} says so.
 * </ul>
 *
 * <h2>Threads</h2>
 *
 * wal-sync places, wal-apply applies and abandons, flush and compaction threads freeze and install,
 * any thread reads. {@link #openView} takes no lock.
 */
public final class Tablet implements WriteTarget {
  /** With three times the bound of files, writes could fill a memtable in this time. */
  private static final int HALFWAY_SECONDS = 4;

  private final TabletIdentity identity;
  private final TabletExtent extent;
  private final boolean system;
  private final TabletEnvironment environment;
  private final List<FileReference> initialFiles;
  private final long initialFlushedSequence;

  // Own synchronization.
  private final PlacedWrites placedWrites = new PlacedWrites();
  private final TabletCounters counters = new TabletCounters();
  private final Pace pace;

  /** Held for changes of the current state and while a write is applied; never while blocking. */
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private TabletState life = TabletState.OPENING;

  @GuardedBy("lock")
  private @Nullable FrozenMemtable frozen;

  @GuardedBy("lock")
  private long flushedSequence;

  @GuardedBy("lock")
  private boolean fullReported;

  @GuardedBy("lock")
  private @Nullable String failure;

  /** Work that failed last time, and why. */
  @GuardedBy("lock")
  private final Map<String, String> troubles = new TreeMap<>();

  // Written under the lock, read without.
  private volatile @Nullable ViewState current;
  private volatile boolean readable;
  private volatile long published;
  private volatile Settings settings;
  private volatile Durability durability;
  private volatile int mostFiles;

  // Written by wal-sync (by the opening thread before).
  private long lastPlaced;
  private volatile long lastTime;

  public Tablet(TabletDescription description, TabletEnvironment environment) {
    this.identity = description.identity();
    this.extent = description.extent();
    this.system = description.system();
    this.environment = environment;
    this.initialFiles = description.files();
    this.initialFlushedSequence = description.flushedSequence();
    this.flushedSequence = description.flushedSequence();
    this.lastTime = description.timeFloor();
    this.settings = description.settings();
    this.durability = settings.get(StandardSettings.TABLE_DURABILITY);
    this.mostFiles = settings.get(StandardSettings.TABLE_FILES_MAX);
    this.pace =
        system
            ? Pace.FREE
            : new Pace(environment.memtableBytes() / HALFWAY_SECONDS, this::surplusOfFiles);
    this.published =
        max(Sequence.of(identity.epoch(), 0), initialFlushedSequence, lastSequence(initialFiles));
    this.lastPlaced = published;
    SharedMemtable active = newMemtable();
    this.current = new ViewState(List.of(active), FileSet.EMPTY, published);
  }

  private static long lastSequence(List<FileReference> files) {
    long last = 0;
    for (FileReference file : files) {
      last = max(last, file.lastSequence());
    }
    return last;
  }

  private static long max(long... sequences) {
    long max = 0;
    for (long sequence : sequences) {
      if (Long.compareUnsigned(sequence, max) > 0) {
        max = sequence;
      }
    }
    return max;
  }

  private SharedMemtable newMemtable() {
    return new SharedMemtable(new Memtable(environment.clock().nanos()), environment.memory());
  }

  // ---- Opening

  /**
   * Takes the cells of a record of the log that are in no file; the records of one log in their
   * order, logs in order of their epochs. Only before {@link #open}, by one thread.
   *
   * @throws IOException if the record is damaged
   */
  public void replay(LogRecord record) throws IOException {
    lock.lock();
    try {
      requireLifeLocked(TabletState.OPENING);
      Memtable memtable = requireNonNull(current).active().memtable();
      long before = memtable.bytes();
      try {
        record.visitCells(
            initialFlushedSequence,
            (sequence, array, keyOffset, keyLength, valueOffset, valueLength) ->
                memtable.add(
                    Arrays.copyOfRange(array, keyOffset, keyOffset + keyLength),
                    Arrays.copyOfRange(array, valueOffset, valueOffset + valueLength)));
      } finally {
        environment.memory().reserve(memtable.bytes() - before);
      }
      lastTime = Math.max(lastTime, record.serverTime());
      published = max(published, record.lastSequence());
      lastPlaced = published;
    } finally {
      lock.unlock();
    }
  }

  /** Opens the files, then takes reads and writes. On failure the tablet is FAILED. */
  public void open() throws IOException {
    List<TabletFile> files = new ArrayList<>();
    try {
      for (FileReference reference : initialFiles) {
        OpenFile file = environment.files().open(identity.tableId(), reference.fileId());
        files.add(TabletFile.of(reference, file));
      }
      lock.lock();
      try {
        requireLifeLocked(TabletState.OPENING);
        ViewState state = requireNonNull(current);
        replaceLocked(new ViewState(state.shared(), FileSet.of(files), published)).release();
        moveLocked(TabletState.OPEN);
        readable = true;
        placedWrites.open();
      } finally {
        lock.unlock();
      }
    } catch (IOException | RuntimeException e) {
      fail("cannot open its files: " + e.getMessage());
      throw e;
    } finally {
      files.forEach(file -> file.file().release());
    }
  }

  // ---- What it is

  public TabletIdentity identity() {
    return identity;
  }

  public TabletEnvironment environment() {
    return environment;
  }

  public TabletExtent extent() {
    return extent;
  }

  @Override
  public String tabletId() {
    return identity.tabletId();
  }

  @Override
  public String tableId() {
    return identity.tableId();
  }

  @Override
  public int epoch() {
    return identity.epoch();
  }

  @Override
  public boolean isSystem() {
    return system;
  }

  @Override
  public MemoryBudget memory() {
    return environment.memory();
  }

  /**
   * Users' writes are slowed down from twice the bound of files on, and wait at four times the
   * bound: each flush makes one more, and each lookup may have to look at all of them.
   */
  @Override
  public Pace pace() {
    return pace;
  }

  private double surplusOfFiles() {
    int most = mostFiles;
    return (double) (files().size() - 2 * most) / (2 * most);
  }

  @Override
  public boolean contains(Bytes row) {
    return extent.contains(row);
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public WriteAheadLog log() {
    return environment.log();
  }

  public Settings settings() {
    return settings;
  }

  /** New settings of its table, effective at once. */
  public void changeSettings(Settings newSettings) {
    settings = newSettings;
    durability = newSettings.get(StandardSettings.TABLE_DURABILITY);
    mostFiles = newSettings.get(StandardSettings.TABLE_FILES_MAX);
  }

  public TabletCounters counters() {
    return counters;
  }

  public TabletState state() {
    lock.lock();
    try {
      return life;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Why it cannot be served; else what work on it has failed and is repeated; null: all is well.
   */
  public @Nullable String failure() {
    lock.lock();
    try {
      if (failure != null) {
        return failure;
      }
      return troubles.isEmpty()
          ? null
          : troubles.entrySet().stream()
              .map(trouble -> trouble.getKey() + ": " + trouble.getValue())
              .collect(Collectors.joining("; "));
    } finally {
      lock.unlock();
    }
  }

  /** Work on the tablet failed and will be repeated. */
  public void reportTrouble(String work, String reason) {
    lock.lock();
    try {
      troubles.put(work, reason);
    } finally {
      lock.unlock();
    }
  }

  /** The work succeeds again. */
  public void clearTrouble(String work) {
    lock.lock();
    try {
      troubles.remove(work);
    } finally {
      lock.unlock();
    }
  }

  // ---- Reading

  /**
   * The tablet as it is now. Whoever answers from the view checks the server's lease after this
   * call.
   *
   * @throws SteleException NOT_SERVING if the tablet is not open (any more)
   */
  public TabletView openView() {
    while (true) {
      ViewState state = current;
      if (state != null && state.retain()) {
        long sequence = published;
        // Looked at last: what is published after the tablet has failed is not to be seen.
        if (readable && state == current) {
          return new TabletView(this, state, sequence);
        }
        state.release();
      }
      if (!readable || state == null) {
        throw new SteleException(
            ErrorCode.NOT_SERVING, "tablet " + identity.tabletId() + " is not open here");
      }
    }
  }

  /** Everything up to it is visible. */
  public long publishedSequence() {
    return published;
  }

  public boolean servesReads() {
    return readable;
  }

  public boolean takesWrites() {
    return placedWrites.isOpen();
  }

  // ---- Writing

  @Override
  public long place(int cells) {
    if (Sequence.counter(lastPlaced) + cells > Sequence.MAX_COUNTER || !placedWrites.enter()) {
      return REFUSED;
    }
    long first = lastPlaced + 1;
    lastPlaced += cells;
    return first;
  }

  @Override
  public long timestamp() {
    long time = Math.max(environment.clock().wallMillis(), lastTime);
    lastTime = time;
    return time;
  }

  @Override
  public void apply(TabletWrite write) {
    boolean full;
    lock.lock();
    try {
      Memtable memtable = requireNonNull(current, "applied to a closed tablet").active().memtable();
      addWhole(memtable, write);
      published = write.lastSequence();
      full = memtable.bytes() >= environment.memtableBytes() && !fullReported;
      fullReported |= full;
    } finally {
      lock.unlock();
    }
    counters.cellsWritten().add(write.cells());
    placedWrites.leave();
    if (full) {
      environment.events().memtableFull(this);
    }
  }

  /** If a part of the write cannot be added nothing that comes after it may be seen. */
  private void addWhole(Memtable memtable, TabletWrite write) {
    boolean whole = false;
    try {
      byte[][] keys = write.keys();
      byte[][] values = write.values();
      for (int i = 0; i < keys.length; i++) {
        memtable.add(keys[i], values[i]);
      }
      whole = true;
    } finally {
      if (!whole) {
        fail("a write that is in the log could not be applied");
        placedWrites.leave();
      }
    }
  }

  /** The write's sequences are passed: nothing of it will ever be visible here. */
  @Override
  public void abandon(TabletWrite write) {
    lock.lock();
    try {
      published = write.lastSequence();
    } finally {
      lock.unlock();
    }
    placedWrites.leave();
  }

  // ---- Flushing and compacting

  /** Bytes of all cells not yet in files. */
  public long memtableBytes() {
    ViewState state = current;
    long bytes = 0;
    if (state != null) {
      for (Memtable memtable : state.memtables) {
        bytes += memtable.bytes();
      }
    }
    return bytes;
  }

  /** The files it has now, oldest first. */
  public FileSet files() {
    ViewState state = current;
    return state == null ? FileSet.EMPTY : state.files;
  }

  /** Everything up to it is in files that metadata names. */
  public long flushedSequence() {
    lock.lock();
    try {
      return flushedSequence;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the active memtable at the sequence reached now and begins a new one; or gives the one
   * frozen before, if that is not yet flushed. Null if nothing was settled since the last flush.
   *
   * @throws SteleException NOT_SERVING if the tablet is not served any more: nobody may take what
   *     it has for flushed
   */
  public @Nullable FrozenMemtable freeze() {
    lock.lock();
    try {
      ViewState state = current;
      if (state == null || !life.servesReads()) {
        throw new SteleException(
            ErrorCode.NOT_SERVING, identity + " is " + life + " and cannot be flushed");
      }
      if (frozen != null) {
        return frozen;
      }
      long boundary = published;
      if (Long.compareUnsigned(boundary, flushedSequence) <= 0) {
        return null;
      }
      SharedMemtable active = state.active();
      if (active.memtable().isEmpty()) {
        frozen = freezeLocked(new Memtable(0), boundary);
        return frozen;
      }
      frozen = freezeLocked(active.memtable(), boundary);
      fullReported = false;
      replaceLocked(
              new ViewState(List.of(newMemtable(), active), state.files, state.oldestReadable))
          .release(); // the next has all of it
      return frozen;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private FrozenMemtable freezeLocked(Memtable memtable, long boundary) {
    return new FrozenMemtable(
        memtable, flushedSequence + 1, boundary, lastTime, requireNonNull(current).files.isEmpty());
  }

  /**
   * What {@link #freeze} gave is flushed, and metadata says so.
   *
   * @param file null: there was nothing to write. The tablet becomes a user of it
   * @param dropped whether versions that the memtable had are not in the file
   */
  public void flushed(FrozenMemtable flushed, @Nullable TabletFile file, boolean dropped) {
    ViewState before;
    lock.lock();
    try {
      if (!flushed.equals(frozen)) {
        throw new IllegalStateException("another memtable of " + identity + " was flushed");
      }
      frozen = null;
      flushedSequence = flushed.lastSequence();
      ViewState state = current;
      if (state == null) {
        return;
      }
      List<SharedMemtable> left =
          state.shared().stream().filter(one -> one.memtable() != flushed.memtable()).toList();
      before =
          replaceLocked(
              new ViewState(
                  left,
                  file == null ? state.files : state.files.with(file),
                  dropped
                      ? max(state.oldestReadable, flushed.lastSequence())
                      : state.oldestReadable));
    } finally {
      lock.unlock();
    }
    before.release();
    counters.flushes().increment();
  }

  /**
   * {@code added} has taken the place of {@code removed}, and metadata says so; the removed files
   * are deleted when nothing uses them.
   *
   * @param dropped whether versions that the removed files had are not in the added one
   */
  public void compacted(List<TabletFile> removed, @Nullable TabletFile added, boolean dropped) {
    ViewState before;
    lock.lock();
    try {
      ViewState state = current;
      if (state == null) {
        removed.forEach(file -> file.file().drop());
        return;
      }
      long newest = 0;
      for (TabletFile file : removed) {
        newest = max(newest, file.reference().lastSequence());
        file.file().drop();
      }
      before =
          replaceLocked(
              new ViewState(
                  state.shared(),
                  state.files.replace(removed, added),
                  dropped ? max(state.oldestReadable, newest) : state.oldestReadable));
    } finally {
      lock.unlock();
    }
    before.release();
    counters.compactions().increment();
  }

  /**
   * Makes a state the current one; returns the one before, which the caller releases. If that may
   * be its end the lock is given back first: memory is given to those who wait for it, files are
   * closed.
   */
  @GuardedBy("lock")
  private ViewState replaceLocked(ViewState next) {
    ViewState before = requireNonNull(current);
    current = next;
    return before;
  }

  // ---- Closing

  /**
   * Takes no more writes; the future is done when everything placed is settled, so that a flush
   * after it has all. Idempotent; not while it is opening.
   */
  public CompletableFuture<Void> stopWrites() {
    lock.lock();
    try {
      if (life == TabletState.OPEN || life == TabletState.OPENING) { // OPENING is refused there
        moveLocked(TabletState.CLOSING);
      }
    } finally {
      lock.unlock();
    }
    return placedWrites.close();
  }

  /**
   * It cannot be served, for a reason that an operator reads; reads and writes are refused from now
   * on. What is placed in the log is still settled.
   */
  public void fail(String reason) {
    lock.lock();
    try {
      if (life == TabletState.CLOSED || life == TabletState.FAILED) {
        return;
      }
      moveLocked(TabletState.FAILED);
      failure = reason;
      readable = false;
    } finally {
      lock.unlock();
    }
    var unused = placedWrites.close();
  }

  /**
   * Ends the tablet here; views that are open stay good. Legal when writes were stopped and all
   * that was placed is settled; idempotent.
   */
  public void close() {
    if (!placedWrites.close().isDone()) {
      throw new IllegalStateException(identity + " still has writes on their way");
    }
    ViewState last;
    lock.lock();
    try {
      if (life == TabletState.CLOSED) {
        return;
      }
      moveLocked(TabletState.CLOSED);
      readable = false;
      last = requireNonNull(current);
      current = null;
    } finally {
      lock.unlock();
    }
    last.release();
  }

  @GuardedBy("lock")
  private void moveLocked(TabletState next) {
    if (!life.mayMoveTo(next)) {
      throw new IllegalStateException(identity + " is " + life + " and cannot become " + next);
    }
    life = next;
  }

  @GuardedBy("lock")
  private void requireLifeLocked(TabletState expected) {
    if (life != expected) {
      throw new IllegalStateException(identity + " is " + life + ", not " + expected);
    }
  }

  @Override
  public String toString() {
    return identity.toString();
  }
}
