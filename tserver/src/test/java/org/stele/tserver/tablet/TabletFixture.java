package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.WriterStamp;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.core.wire.PackedCells;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.cache.CaffeineBlockCache;
import org.stele.tserver.compact.Compactor;
import org.stele.tserver.files.FileCollector;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.files.OpenFiles;
import org.stele.tserver.flush.Flusher;
import org.stele.tserver.lookup.LookupAnswer;
import org.stele.tserver.lookup.LookupQuery;
import org.stele.tserver.lookup.LookupStage;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.scan.ScanAnswer;
import org.stele.tserver.scan.ScanLimits;
import org.stele.tserver.scan.ScanQuery;
import org.stele.tserver.scan.ScanStage;
import org.stele.tserver.wal.GroupCommitLog;
import org.stele.tserver.wal.LogCursor;
import org.stele.tserver.wal.LogDirectory;
import org.stele.tserver.wal.LogRecord;
import org.stele.tserver.write.MemoryBudget;
import org.stele.tserver.write.WriteBatch;
import org.stele.tserver.write.WriteFailure;
import org.stele.tserver.write.WriteLimits;
import org.stele.tserver.write.WriteStage;

/**
 * One tablet with everything around it that a server has: log, files in memory, cache, stages.
 * Flushes and compactions are done by the test's thread ({@link #flush}, {@link #compact}) unless
 * threads are asked for.
 */
public final class TabletFixture {
  public static final String TABLE = "t1";
  private static final long WAIT_SECONDS = 60;

  public final CrashableFileStore store;
  public final MemoryCatalog catalog;
  public final Clock clock;
  public final MemoryBudget memory;
  public final FileCollector collector;
  public final CaffeineBlockCache cache = new CaffeineBlockCache(1 << 20, 1 << 20);
  public final OpenFiles files;
  public final FileNames names;
  public final GroupCommitLog log;
  public final Flusher flusher;
  public final Compactor compactor;
  public final TabletMap map = new TabletMap();
  public final WriteStage writes;
  public final LookupStage lookups;
  public final ScanStage scans;
  public Settings settings;
  public Tablet tablet;

  /** How long a batch of {@link #scan} may take. */
  long batchNanos = TimeUnit.SECONDS.toNanos(WAIT_SECONDS);

  private final Options options;

  /** What can be set before the fixture is made. */
  public static final class Options {
    public Clock clock = Clock.system();
    final CrashableFileStore store = new CrashableFileStore();
    final MemoryCatalog catalog = new MemoryCatalog();
    public TabletExtent extent = new TabletExtent(TABLE, null, null);
    int run = 1;
    int epoch = 1;
    public long memoryBytes = 64 << 20;
    public long memtableBytes = 16 << 20;
    public long logQueueBytes = 16 << 20;
    public long logFileBytes = 1 << 20;
    public int threads;
    public Duration batchTime = Duration.ofSeconds(10);
    public WriteLimits writeLimits = new WriteLimits(1000, 16 << 20);
    public final Map<String, String> settings = new HashMap<>();

    public Options setting(String name, String value) {
      settings.put(name, value);
      return this;
    }
  }

  public TabletFixture(Options options) throws IOException {
    this.options = options;
    store = options.store;
    catalog = options.catalog;
    names = new FileNames(session(options.run));
    clock = options.clock;
    memory = new MemoryBudget(options.memoryBytes);
    settings = Settings.of(options.settings);
    collector = new FileCollector(store, catalog::commitDeletion, clock, Duration.ZERO);
    files = new OpenFiles(store, cache, collector);
    store.makeDirectory(logDirectory(options.run));
    AtomicLong salts = new AtomicLong(1);
    log =
        GroupCommitLog.start(
            store,
            new GroupCommitLog.Options(
                logDirectory(options.run),
                "instance",
                session(options.run),
                "",
                options.logFileBytes,
                options.logQueueBytes,
                Duration.ofSeconds(10)),
            clock,
            salts::incrementAndGet,
            broken -> {});
    compactor = new Compactor(options.threads, names, clock).start();
    flusher =
        new Flusher(
                options.threads,
                names,
                clock,
                options.threads == 0 ? changed -> {} : compactor::request)
            .start();
    writes =
        new WriteStage(
                map, List.of(memory), Memtable::cellBytes, options.writeLimits, clock, () -> true)
            .start();
    lookups = new LookupStage(map, () -> true, 1 << 20);
    scans =
        new ScanStage(map, () -> true, clock, new ScanLimits(1 << 20, options.batchTime.toNanos()));
    tablet = open(options.extent);
  }

  private Tablet open(TabletExtent extent) throws IOException {
    Tablet opened = describe("tablet1", extent, catalog);
    for (int run = 1; run < options.run; run++) {
      replay(opened, run);
    }
    opened.open();
    map.add(opened);
    return opened;
  }

  private Tablet describe(String tabletId, TabletExtent extent, MemoryCatalog row) {
    return new Tablet(
        new TabletDescription(
            new TabletIdentity(tabletId, TABLE, options.epoch),
            extent,
            row.files(),
            row.flushedSequence(),
            row.timeFloor(),
            settings,
            false),
        new TabletEnvironment(clock, files, row, log, memory, options.memtableBytes, flusher));
  }

  /** One more, empty tablet. */
  public Tablet addTablet(String tabletId, TabletExtent extent) throws IOException {
    Tablet added = describe(tabletId, extent, new MemoryCatalog());
    added.open();
    map.add(added);
    return added;
  }

  private static String session(int run) {
    return "5e55" + run;
  }

  private static String logDirectory(int run) {
    return "wal/" + session(run) + "/data";
  }

  private void replay(Tablet opening, int run) throws IOException {
    LogDirectory logs = LogDirectory.read(store, logDirectory(run));
    try (LogCursor records = logs.records("tablet1", anyEpoch -> true, catalog.flushedSequence())) {
      for (LogRecord record = records.next(); record != null; record = records.next()) {
        opening.replay(record);
      }
    }
  }

  /** The records of the tablet in this server's log, as one finds them who takes over. */
  public List<LogRecord> logged() throws IOException {
    CrashableFileStore killed = store.copy();
    killed.kill();
    List<LogRecord> all = new ArrayList<>();
    LogDirectory logs = LogDirectory.read(killed, logDirectory(options.run));
    try (LogCursor records = logs.records("tablet1", anyEpoch -> true, 0)) {
      for (LogRecord record = records.next(); record != null; record = records.next()) {
        all.add(record);
      }
    }
    return all;
  }

  /** The files lose what was not synced; writes that are under way fail. */
  public void stopMachine() {
    store.crash();
    try {
      log.close();
    } catch (IOException e) {
      assertTrue(e.getMessage().contains("log"), e.getMessage());
    }
  }

  /** The machine stops without a warning; the server that is started on it afterwards. */
  public TabletFixture crash() throws Exception {
    stopMachine();
    writes.close();
    flusher.close();
    compactor.close();
    options.run++;
    options.epoch++;
    return new TabletFixture(options);
  }

  /** Closes the tablet after a flush and opens it again, as on another server. */
  public void reopen() throws Exception {
    tablet.stopWrites().get(WAIT_SECONDS, TimeUnit.SECONDS);
    flush();
    map.remove(tablet);
    tablet.close();
    flusher.forget(tablet);
    compactor.forget(tablet);
    options.epoch++;
    tablet = open(tablet.extent());
  }

  /** Flushes on this thread. */
  public void flush() {
    CompletableFuture<Void> done = flusher.flushSoon(tablet);
    while (!done.isDone()) {
      assertTrue(flusher.runOnce(), () -> "the flush waits: " + tablet.failure());
    }
    done.join();
  }

  /** Compacts on this thread. */
  public void compact(boolean whole) {
    if (whole) {
      CompletableFuture<Void> done = compactor.compactWhole(tablet);
      while (!done.isDone()) {
        assertTrue(compactor.runOnce(), () -> "the compaction waits: " + tablet.failure());
      }
      done.join();
    } else {
      compactor.request(tablet);
      while (compactor.runOnce()) {
        assertNull(tablet.failure());
      }
    }
    collector.runOnce();
  }

  public CompletableFuture<List<WriteFailure>> write(Mutation... mutations) {
    return write(null, clock.nanos() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS), mutations);
  }

  public CompletableFuture<List<WriteFailure>> write(
      @Nullable Durability durability, long deadlineNanos, Mutation... mutations) {
    CompletableFuture<List<WriteFailure>> done = new CompletableFuture<>();
    writes.write(
        new WriteBatch(
            TABLE, List.of(mutations), durability, deadlineNanos, false, WriterStamp.NONE),
        done::complete);
    return done;
  }

  /** Writes and waits; nothing may fail. */
  public void writeNow(Mutation... mutations) throws Exception {
    assertEquals(List.of(), write(mutations).get(WAIT_SECONDS, TimeUnit.SECONDS));
  }

  public List<Cell> lookup(Bytes row, Column... columns) {
    byte[] array = row.unsafeArray();
    return cells(
        lookups
            .lookup(new LookupQuery(TABLE, array, 0, array.length, List.of(columns), 0))
            .cells());
  }

  public LookupAnswer lookupAnswer(Bytes row, int maxBytes) {
    byte[] array = row.unsafeArray();
    return lookups.lookup(new LookupQuery(TABLE, array, 0, array.length, List.of(), maxBytes));
  }

  public static List<Cell> cells(PackedCellsWriter packed) {
    return PackedCells.decode(packed.array(), 0, packed.length());
  }

  /** Scans a range of this table, batch by batch, as a client does; nothing changes meanwhile. */
  public List<Cell> scan(Range range, List<Column> columns, int rows, int cells, int bytes) {
    List<Cell> all = new ArrayList<>();
    byte[] lower = range.lowerKey();
    byte[] position = null;
    long sequence = 0;
    while (true) {
      ScanAnswer answer =
          scans.scan(
              new ScanQuery(
                  TABLE,
                  lower,
                  range.upperKey(),
                  columns,
                  rows,
                  cells,
                  bytes,
                  position,
                  sequence,
                  false,
                  clock.nanos() + batchNanos),
              () -> false);
      List<Cell> batch = cells(answer.cells());
      assertTrue(!answer.viewChanged(), "nothing changed");
      assertTrue(cells == 0 || batch.size() <= cells, "more cells than asked for");
      all.addAll(batch);
      if (answer.atEnd()) {
        Bytes end = answer.extent().endRow();
        if (end == null || map.findByKey(TABLE, answer.extent().upperKey()) == null) {
          return all;
        }
        byte[] upper = range.upperKey();
        lower = answer.extent().upperKey();
        if (upper != null && java.util.Arrays.compareUnsigned(lower, upper) >= 0) {
          return all;
        }
        position = null;
        sequence = 0;
        continue;
      }
      position = answer.position();
      sequence = answer.rowContinues() ? answer.readSequence() : 0;
    }
  }

  public List<Cell> scanAll() {
    return scan(Range.all(), List.of(), 0, 0, 0);
  }

  /** Ends everything; then nothing may be open and no memory be taken. */
  public void close() throws Exception {
    map.all().forEach(each -> each.fail("the test ends"));
    writes.close();
    log.close();
    flusher.close();
    compactor.close();
    for (Tablet each : map.all()) {
      each.stopWrites().get(WAIT_SECONDS, TimeUnit.SECONDS);
      flusher.forget(each);
      compactor.forget(each);
      each.close();
    }
    assertEquals(0, memory.used(), "memory that nobody gave back");
    assertEquals(0, files.count(), "files that nobody closed");
    store.assertNoOpenHandles();
  }
}
