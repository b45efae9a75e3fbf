package org.stele.tserver.recovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileStore;
import org.stele.tserver.coordinator.LogFence;

/**
 * Where the logs of servers lie in the file store, and how they are taken from a dead one.
 *
 * <pre>
 *   wal/SESSION/data/NUMBER.wal          logs of a server
 *   wal/SESSION/meta/NUMBER.wal          its logs of the metadata tablet
 *   wal/SESSION.fenced/…                 the same after fencing: read, and deleted in the end
 *   wal/SESSION.fenced                   empty: the server ended in order, nothing is in logs
 * </pre>
 *
 * <p>Fencing renames the directory. A server makes its logs without making directories, so from
 * then on it can begin no new log, and it ends. As long as a tablet's row names a session, one of
 * its two directories is there: if there is neither, logs were lost, or this is another store.
 * Thread-safe; every method may block.
 */
public final class LogDirectories implements LogFence {
  private static final Logger LOG = LoggerFactory.getLogger(LogDirectories.class);
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
    if (!take(session)) {
      LOG.error(
          "{} has neither {} nor {}: the tablets of session {} wait for its logs",
          store.root(),
          live(session),
          fenced(session),
          session);
      return new FencedLogs(true, true);
    }
    return new FencedLogs(settle(fencedData(session)), settle(fencedMeta(session)));
  }

  /**
   * Fences a session again, so that its logs can be read.
   *
   * @throws CorruptFileException if they are nowhere
   */
  void requireFenced(String session) throws IOException {
    if (!take(session)) {
      throw new CorruptFileException(
          fenced(session),
          0,
          "the directory with the logs of session "
              + session
              + " is missing; put it back, or make an empty one of this name to accept the loss");
    }
    settle(fencedData(session));
    settle(fencedMeta(session));
  }

  /** Renames the directory of a session, unless that was done before; false: there is none. */
  private boolean take(String session) throws IOException {
    if (!store.exists(fenced(session))) {
      if (!store.exists(live(session))) {
        return store.exists(fenced(session)); // another server may just have been faster
      }
      store.rename(live(session), fenced(session));
    }
    return true;
  }

  private static String live(String session) {
    return ROOT + "/" + session;
  }

  private static String fenced(String session) {
    return live(session) + FENCED;
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
    store.delete(fenced(session));
  }

  /** Deletes the logs of this server itself, which never had a tablet. */
  public void deleteOwn(String session) throws IOException {
    deleteTree(data(session));
    deleteTree(meta(session));
    store.delete(live(session));
  }

  /**
   * Deletes the logs of this server itself: all is flushed, and they are closed. An empty directory
   * stays, fenced, which says that nothing is missing. What another server has fenced meanwhile
   * stays whole: it may be reading.
   */
  public void leaveEmpty(String session) throws IOException {
    deleteTree(data(session));
    deleteTree(meta(session));
    try {
      store.rename(live(session), fenced(session));
    } catch (IOException e) {
      if (!store.exists(fenced(session))) {
        throw e;
      }
    }
  }

  /** The newest log first: each says that those before it are there. */
  private void deleteTree(String directory) throws IOException {
    List<FileStore.Entry> entries = new ArrayList<>(store.list(directory));
    Collections.reverse(entries);
    for (FileStore.Entry entry : entries) {
      store.delete(directory + "/" + entry.name());
    }
    store.delete(directory);
  }
}
