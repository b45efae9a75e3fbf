package org.stele.tserver.wal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;
import org.stele.tserver.wal.LogHeader.Predecessor;
import org.stele.tserver.wal.WriteAheadLog.LogFile;

/**
 * The files of a log that are not yet deleted, and what each still holds that is in no sorted file.
 * Thread-safe; nothing is called, read or written while its lock is held.
 *
 * <p>A file goes in three steps. (1) {@link #flushed} finds that nothing in the oldest files is
 * needed any more: {@link #lowestNeeded} rises. (2) {@code wal-sync} writes that number into the
 * current file and syncs it: {@link #declared}. (3) Only then the older files are deleted, oldest
 * first. So recovery can tell a file that was deleted from one that was lost. The current file is
 * always needed.
 */
final class LiveLogs {
  @GuardedBy("this")
  private final Deque<Live> logs = new ArrayDeque<>();

  @GuardedBy("this")
  private long declared = 1;

  private static final class Live {
    final LogFileWriter writer;

    /** Tablets with records here that are not flushed, and the highest sequence of each. */
    final Map<String, Long> highest = new HashMap<>();

    /** Set when nothing more will be acknowledged in this file. */
    @Nullable Predecessor ended;

    Live(LogFileWriter writer) {
      this.writer = writer;
    }
  }

  /** A new file takes all that is written from now on; its header has declared {@code lowest}. */
  synchronized void opened(LogFileWriter writer, long lowest) {
    logs.addLast(new Live(writer));
    declared = Math.max(declared, lowest);
  }

  /** The current file takes no more. */
  synchronized void ended() {
    Live last = logs.getLast();
    last.ended =
        new Predecessor(last.writer.number(), last.writer.synced(), last.writer.acknowledged());
  }

  /** The group was written to the current file; comes before it is applied. */
  synchronized void recorded(LogGroup group) {
    Map<String, Long> highest = logs.getLast().highest;
    for (LogEntry entry : group.entries()) {
      if (entry.durability() != Durability.NONE && group.refusal(entry) == null) {
        highest.merge(entry.tabletId(), entry.lastSequence(), LiveLogs::higher);
      }
    }
  }

  private static long higher(long a, long b) {
    return Long.compareUnsigned(a, b) >= 0 ? a : b;
  }

  /**
   * All of the tablet up to {@code sequence} is in sorted files.
   *
   * @return whether files can go that could not before
   */
  synchronized boolean flushed(String tabletId, long sequence) {
    for (Live log : logs) {
      Long highest = log.highest.get(tabletId);
      if (highest != null && Long.compareUnsigned(highest, sequence) <= 0) {
        log.highest.remove(tabletId);
      }
    }
    return lowestNeeded() > declared;
  }

  /** The number of the oldest file that is still needed. */
  synchronized long lowestNeeded() {
    for (Live log : logs) {
      if (log.ended == null || !log.highest.isEmpty()) {
        return log.writer.number();
      }
    }
    // Between two files: the one to come is not known yet, so keep the last.
    return logs.isEmpty() ? declared : logs.getLast().writer.number();
  }

  synchronized boolean hasUndeclared() {
    return lowestNeeded() > declared;
  }

  /** {@code lowest} is on the disk as the lowest number that is needed. */
  synchronized void declared(long lowest) {
    declared = Math.max(declared, lowest);
  }

  /** The files that may be deleted now, oldest first. */
  synchronized List<LogFileWriter> deletable() {
    List<LogFileWriter> deletable = new ArrayList<>();
    for (Live log : logs) {
      if (log.writer.number() >= declared) {
        break;
      }
      deletable.add(log.writer);
    }
    return deletable;
  }

  synchronized void deleted(LogFileWriter writer) {
    logs.removeIf(log -> log.writer == writer);
  }

  /** What the header of the next file says of those before it: the needed ones, oldest first. */
  synchronized List<Predecessor> predecessors() {
    long lowest = lowestNeeded();
    List<Predecessor> predecessors = new ArrayList<>();
    for (Live log : logs) {
      if (log.ended != null && log.writer.number() >= lowest) {
        predecessors.add(log.ended);
      }
    }
    int surplus = predecessors.size() - LogHeader.MAX_PREDECESSORS;
    return surplus > 0 ? predecessors.subList(surplus, predecessors.size()) : predecessors;
  }

  /** The unflushed tablets of the newest file; null if there are too many to list. */
  synchronized @Nullable Map<String, Long> tabletsOfNewest() {
    if (logs.isEmpty()) {
      return Map.of();
    }
    Map<String, Long> highest = logs.getLast().highest;
    return highest.size() > LogHeader.MAX_TABLETS ? null : new LinkedHashMap<>(highest);
  }

  synchronized List<LogFile> files() {
    List<LogFile> files = new ArrayList<>();
    for (Live log : logs) {
      files.add(
          new LogFile(
              log.writer.path(), log.writer.acknowledged(), new TreeSet<>(log.highest.keySet())));
    }
    return files;
  }
}
