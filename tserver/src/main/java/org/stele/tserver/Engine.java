package org.stele.tserver;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.stele.client.location.MetadataSchema;
import org.stele.core.file.FileStore;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.sortedfile.BlockCache;
import org.stele.core.time.Clock;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.process.Closer;
import org.stele.tserver.cache.CacheCounters;
import org.stele.tserver.cache.CaffeineBlockCache;
import org.stele.tserver.compact.Compactor;
import org.stele.tserver.conditional.ConditionalStage;
import org.stele.tserver.files.FileCollector;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.files.OpenFiles;
import org.stele.tserver.flush.FlushTriggers;
import org.stele.tserver.flush.Flusher;
import org.stele.tserver.lookup.LookupStage;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.recovery.LogDirectories;
import org.stele.tserver.recovery.MetadataFileCatalog;
import org.stele.tserver.recovery.OwnedTablets;
import org.stele.tserver.recovery.TabletOpener;
import org.stele.tserver.scan.ScanLimits;
import org.stele.tserver.scan.ScanStage;
import org.stele.tserver.tablet.TabletEnvironment;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.wal.LogMetrics;
import org.stele.tserver.wal.WriteAheadLog;
import org.stele.tserver.write.MemoryBudget;
import org.stele.tserver.write.WriteCounters;
import org.stele.tserver.write.WriteLimits;
import org.stele.tserver.write.WriteStage;

/**
 * The parts of a server that hold, read and change tablets, put together and started. They are
 * closed by the closer that was given.
 */
final class Engine {
  private static final int WAITING_WRITES = 100_000;

  final TabletMap tablets = new TabletMap();
  final OwnedTablets owned = new OwnedTablets();

  /** The least memory for writes of metadata, beside that of users. */
  private static final long SYSTEM_MEMORY_BYTES = 4 << 20;

  final FileCollector collector;
  final Compactor compactor;
  final Flusher flusher;
  final TabletOpener opener;
  final LookupStage lookups;
  final ScanStage scans;
  final WriteStage writes;
  final ConditionalStage conditional;

  private final Basis basis;
  private final MemoryBudget memory;
  private final CaffeineBlockCache cache;

  /**
   * What the engine stands on.
   *
   * @param directories where logs lie
   * @param session of this server
   * @param log of users' tablets
   * @param metaLog of the metadata tablet
   * @param leaseHeld whether this server is sure to own its tablets
   */
  record Basis(
      Settings settings,
      Clock clock,
      FileStore store,
      LogDirectories directories,
      String session,
      WriteAheadLog log,
      WriteAheadLog metaLog,
      MetadataStore metadata,
      BooleanSupplier leaseHeld) {}

  Engine(Basis basis, Closer closer) {
    this.basis = basis;
    Settings settings = basis.settings;
    Clock clock = basis.clock;
    memory = new MemoryBudget(settings.get(StandardSettings.MEMTABLE_BYTES));
    MemoryBudget systemMemory =
        new MemoryBudget(Math.max(SYSTEM_MEMORY_BYTES, memory.limit() / 16));
    cache =
        new CaffeineBlockCache(
            settings.get(StandardSettings.CACHE_DATA_BYTES),
            settings.get(StandardSettings.CACHE_INDEX_BYTES));
    MetadataFileCatalog catalog = new MetadataFileCatalog(basis.metadata, owned, clock);
    collector =
        closer.add(
            "file collector",
            new FileCollector(
                    basis.store,
                    catalog::commitDeletion,
                    clock,
                    settings.get(StandardSettings.FILES_GRACE))
                .start());
    FileNames names = new FileNames(basis.session);
    compactor =
        closer.add(
            "compactor",
            new Compactor(settings.get(StandardSettings.COMPACTION_THREADS), names, clock).start());
    flusher =
        closer.add(
            "flusher",
            new Flusher(
                    settings.get(StandardSettings.FLUSH_THREADS), names, clock, compactor::request)
                .start());
    closer.add(
        "flush triggers",
        new FlushTriggers(
                tablets,
                flusher,
                List.of(memory, systemMemory),
                List.of(basis.log, basis.metaLog),
                settings.get(StandardSettings.WAL_RETAINED_LOGS))
            .start());
    OpenFiles files = new OpenFiles(basis.store, cache, collector);
    opener =
        closer.add(
            "tablet opener",
            new TabletOpener(
                basis.session,
                basis.metadata,
                basis.store,
                basis.directories,
                owned,
                tablets,
                new TabletOpener.Parts(
                    environment(files, catalog, basis.log, memory),
                    environment(files, catalog, basis.metaLog, systemMemory),
                    flusher,
                    compactor)));
    int batchBytes = Math.toIntExact(settings.get(StandardSettings.SCAN_BATCH_BYTES));
    lookups = new LookupStage(tablets, basis.leaseHeld, batchBytes);
    scans =
        new ScanStage(
            tablets,
            basis.leaseHeld,
            clock,
            new ScanLimits(batchBytes, settings.get(StandardSettings.SCAN_BATCH_TIME).toNanos()));
    writes =
        closer.add(
            "write stage",
            new WriteStage(
                    tablets,
                    List.of(memory, systemMemory),
                    Memtable::cellBytes,
                    new WriteLimits(WAITING_WRITES, settings.get(StandardSettings.WAL_QUEUE_BYTES)),
                    clock,
                    basis.leaseHeld)
                .start());
    conditional =
        new ConditionalStage(
            MetadataSchema.TABLE_ID, MetadataSchema.OWNER_BATCH.family(), lookups, writes, clock);
  }

  private TabletEnvironment environment(
      OpenFiles files, MetadataFileCatalog catalog, WriteAheadLog log, MemoryBudget budget) {
    return new TabletEnvironment(
        basis.clock,
        files,
        catalog,
        log,
        budget,
        basis.settings.get(StandardSettings.MEMTABLE_TABLET_BYTES),
        flusher);
  }

  // ---- Counters, by names that begin with the stage

  Map<String, Long> counters() {
    Map<String, Long> all = new TreeMap<>();
    all.put("lookup.rows", lookups.counters().lookups().sum());
    all.put("lookup.found", lookups.counters().found().sum());
    all.put("scan.batches", scans.counters().batches().sum());
    all.put("scan.cells", scans.counters().cells().sum());
    add(all, writes.counters());
    all.put("write.waiting", (long) writes.waiting());
    add(all, basis.log.metrics());
    all.put("memtable.bytes", memory.used());
    for (BlockCache.Kind kind : BlockCache.Kind.values()) {
      add(all, "cache." + kind.name().toLowerCase(Locale.ROOT), cache.counters(kind));
    }
    all.put("flush.pending", (long) flusher.pending());
    all.put("flush.failures", flusher.failures());
    all.put("compact.pending", (long) compactor.pending());
    all.put("compact.failures", compactor.failures());
    return all;
  }

  private static void add(Map<String, Long> all, WriteCounters writes) {
    all.put("write.batches", writes.batches().sum());
    all.put("write.mutations", writes.mutations().sum());
    all.put("write.cells", writes.cells().sum());
    all.put("write.bytes", writes.bytes().sum());
    all.put("write.refused", writes.refused().sum());
    all.put("write.expired", writes.expired().sum());
    all.put("write.unknown", writes.unknown().sum());
    all.put("write.busy", writes.busy().sum());
  }

  private static void add(Map<String, Long> all, LogMetrics log) {
    all.put("wal.groups", log.groups());
    all.put("wal.syncs", log.syncs());
    all.put("wal.sync.nanos", log.syncNanos());
    all.put("wal.bytes", log.bytes());
    all.put("wal.failed", log.failed());
    all.put("wal.files.failed", log.failedFiles());
    all.put("wal.files.created", log.createdFiles());
    all.put("wal.files.deleted", log.deletedFiles());
  }

  private static void add(Map<String, Long> all, String name, CacheCounters cache) {
    all.put(name + ".hits", cache.hits());
    all.put(name + ".misses", cache.misses());
    all.put(name + ".evictions", cache.evictions());
    all.put(name + ".bytes", cache.bytes());
  }
}
