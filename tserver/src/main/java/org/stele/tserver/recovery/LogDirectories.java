package org.stele.tserver.recovery;

import java.io.IOException;
import java.util.List;
import org.stele.core.file.FileStore;
import org.stele.tserver.coordinator.LogFence;

/**
 * Where the logs of servers lie in the file store, and how they are taken from a dead one.
 *
 * <pre>
 *   wal/SESSION/data/NUMBER.wal          logs of a server
 *   wal/SESSION/meta/NUMBER.wal          its logs of the metadata tablet
 *   wal/SESSION.fenced/…                 the same after fencing: read, and deleted in the end
 * </pre>
 *
 * <p>Fencing renames the directory. A server makes its logs without making directories, so from
 * then on it can begin no new log, and it ends. Thread-safe; every method may block.
 */
public final class LogDirectories implements LogFence {
  private static final String ROOT = "wal";
  private static final String FENCED = ".fenced";

  private final FileStore store;
  private final Leases leases;

  /** How a file is taken from a writer that may still run. */
  @FunctionalInterface
  public interface Leases {
    /** Returns when the writer can add nothing more to the file. */
    void recover(String path) throws IOException;
  }

  /**
   * @param leases for file systems where a writer keeps the right to write after a rename
   */
  public LogDirectories(FileStore store, Leases leases) {
    this.store = store;
    this.leases = leases;
  }

  /** Makes the directories of this server's own logs. */
  public void make(String session) throws IOException {
    store.makeDirectory(data(session));
    store.makeDirectory(meta(session));
  }

  public static String data(String session) {
    return ROOT + "/" + session + "/data";
  }

  public static String meta(String session) {
    return ROOT + "/" + session + "/meta";
  }

  static String fencedData(String session) {
    return data(session + FENCED);
  }

  static String fencedMeta(String session) {
    return meta(session + FENCED);
  }

  @Override
  public FencedLogs fence(String session) throws IOException {
    String fenced = ROOT + "/" + session + FENCED;
    String live = ROOT + "/" + session;
    if (!store.exists(fenced) && store.exists(live)) {
      store.rename(live, fenced);
    }
    return new FencedLogs(settle(fencedData(session)), settle(fencedMeta(session)));
  }

  /** Fixes the ends of the logs of a directory; false: there are none. */
  private boolean settle(String directory) throws IOException {
    List<FileStore.Entry> entries = store.list(directory);
    for (FileStore.Entry entry : entries) {
      leases.recover(directory + "/" + entry.name());
    }
    return !entries.isEmpty();
  }

  @Override
  public List<String> fencedSessions() throws IOException {
    return store.list(ROOT).stream()
        .map(FileStore.Entry::name)
        .filter(name -> name.endsWith(FENCED))
        .map(name -> name.substring(0, name.length() - FENCED.length()))
        .toList();
  }

  @Override
  public void delete(String session) throws IOException {
    deleteTree(fencedData(session));
    deleteTree(fencedMeta(session));
    store.delete(ROOT + "/" + session + FENCED);
  }

  /** Deletes the logs of this server itself: all is flushed, and they are closed. */
  public void deleteOwn(String session) throws IOException {
    deleteTree(data(session));
    deleteTree(meta(session));
    store.delete(ROOT + "/" + session);
  }

  private void deleteTree(String directory) throws IOException {
    for (FileStore.Entry entry : store.list(directory)) {
      store.delete(directory + "/" + entry.name());
    }
    store.delete(directory);
  }
}
