package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.time.Clock;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.coordinator.Leftovers.StoredFile;

/**
 * Deletes what servers that are gone have left and no tablet needs: their logs, files that no
 * metadata lists, and the directories of deleted tables.
 *
 * <p>Why nothing is deleted that somebody comes to need: what is there is looked up first, and what
 * is needed after that. A file that is there can be listed later only by the server that made it,
 * for a tablet that it has had ever since; a server without a lock node to whose session no row
 * points has none, and its session never comes back.
 *
 * <p>One thread, the coordinator's.
 */
final class LeftoverSweep {
  private static final Logger LOG = LoggerFactory.getLogger(LeftoverSweep.class);

  /** Sessions that have logs no more may have files still; all directories are looked through. */
  private static final long WALK_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final MetadataStore store;
  private final LiveServers liveServers;
  private final LogFence fence;
  private final Leftovers leftovers;
  private final Clock clock;

  private long walkDueNanos;

  LeftoverSweep(
      MetadataStore store,
      LiveServers liveServers,
      LogFence fence,
      Leftovers leftovers,
      Clock clock) {
    this.store = store;
    this.liveServers = liveServers;
    this.fence = fence;
    this.leftovers = leftovers;
    this.clock = clock;
    this.walkDueNanos = clock.nanos();
  }

  /** To be called when everything is settled. */
  void run() throws IOException {
    List<String> fenced = fence.fencedSessions();
    boolean walk = clock.nanos() - walkDueNanos >= 0;
    if (!walk && (fenced.isEmpty() || needed().sessions.containsAll(fenced))) {
      return;
    }
    Set<String> live = liveServers.bySession().keySet();
    Map<String, List<StoredFile>> stored = storedOfTheDead(live);
    Needed needed = needed();
    for (Map.Entry<String, List<StoredFile>> table : stored.entrySet()) {
      for (StoredFile file : table.getValue()) {
        if (!needed.sessions.contains(file.session()) && !needed.files.contains(file.fileId())) {
          leftovers.deleteUnlisted(file);
        }
      }
      if (!needed.tables.contains(table.getKey())) {
        leftovers.deleteDirectory(table.getKey());
      }
    }
    for (String session : fenced) {
      if (!needed.sessions.contains(session) && !live.contains(session)) {
        fence.delete(session);
        LOG.info("what session {} left is deleted", session);
      }
    }
    walkDueNanos = clock.nanos() + WALK_NANOS;
  }

  /** The files of servers that are not there, by table; also tables without such files. */
  private Map<String, List<StoredFile>> storedOfTheDead(Set<String> live) throws IOException {
    Map<String, List<StoredFile>> stored = new HashMap<>();
    for (String tableId : leftovers.tables()) {
      List<StoredFile> files = new ArrayList<>(leftovers.files(tableId));
      files.removeIf(file -> live.contains(file.session()));
      stored.put(tableId, files);
    }
    return stored;
  }

  private record Needed(Set<String> sessions, Set<String> files, Set<String> tables) {}

  /** What the metadata refers to; files with a delete row are deleted in their own time. */
  private Needed needed() {
    Needed needed = new Needed(new HashSet<>(), new HashSet<>(), new HashSet<>());
    store.tables().forEach(table -> needed.tables.add(table.id()));
    List<TabletRecord> all = new ArrayList<>(store.tablets());
    all.add(store.rootTablet());
    for (TabletRecord tablet : all) {
      needed.tables.add(tablet.tableId());
      tablet.logs().forEach(log -> needed.sessions.add(log.session()));
      tablet.files().forEach(file -> needed.files.add(file.fileId()));
      String session = tablet.session();
      if (session != null) {
        needed.sessions.add(session);
      }
    }
    store.deletes().forEach(file -> needed.files.add(file.fileId()));
    return needed;
  }
}
