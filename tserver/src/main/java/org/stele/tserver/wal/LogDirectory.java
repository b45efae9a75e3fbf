package org.stele.tserver.wal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.ExtentIndex.Extent;
import org.stele.tserver.wal.ExtentIndex.Stay;
import org.stele.tserver.wal.LogHeader.Predecessor;
import org.stele.tserver.wal.RecoveredLog.Claim;

/**
 * The logs that a dead session has left in one directory: what of them counts, what is damaged, and
 * the records of each tablet. To be read after fencing, when nobody writes there any more. The
 * result does not change; reading the same directory again, on whatever server and however often,
 * gives the same.
 *
 * <p>How a log is judged, with what its own groups and all later logs say of it:
 *
 * <ul>
 *   <li>bytes behind its acknowledged end are ignored: they were never acknowledged;
 *   <li>bytes that do not verify are the torn tail, unless somebody knew them to be on the disk:
 *       then they are damage;
 *   <li>a log that a later one lists, and that is shorter than that says or missing, is damage,
 *       unless a log declares it as not needed any more (then it may have been deleted);
 *   <li>a file without a whole header, which nobody lists, is an empty log.
 * </ul>
 *
 * <p>Damage concerns the tablets that may have records there. {@link #records} refuses those and
 * serves the others. An operator who accepts the loss makes a file {@code <log>.accepted-loss}
 * beside the log (also if the log is missing); then all that still verifies counts.
 *
 * <p>What cannot be seen: damage to the last group of the last log, since nobody could have known
 * that it was on the disk; and the loss of the whole last log.
 */
public final class LogDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LogDirectory.class);

  private final FileStore store;
  private final List<RecoveredLog> logs; // oldest first
  private final List<Damage> damage;

  private LogDirectory(FileStore store, List<RecoveredLog> logs, List<Damage> damage) {
    this.store = store;
    this.logs = logs;
    this.damage = damage;
  }

  /**
   * Bytes that were on the disk and are not any more.
   *
   * @param path the log
   * @param end of the damaged bytes that begin at {@code offset}
   * @param tablets the tablets that may have lost records, with their highest sequence; null: any
   * @param accepted whether an operator has accepted the loss
   */
  public record Damage(
      String path,
      long number,
      long offset,
      long end,
      String what,
      @Nullable Map<String, Long> tablets,
      boolean accepted) {
    @Override
    public String toString() {
      return path + ": damaged from offset " + offset + " to " + end + ": " + what;
    }
  }

  /**
   * A log that counts.
   *
   * @param end where its records end
   * @param tornBytes bytes behind that which were written but never acknowledged
   * @param complete whether it was closed properly
   */
  public record Summary(
      String path,
      long number,
      long end,
      long tornBytes,
      boolean complete,
      boolean empty,
      Set<String> tablets) {}

  /**
   * Reads what is needed to know all logs of a directory: headers and indexes, and the whole of
   * logs that were not closed properly.
   *
   * @throws IOException if the store fails, or a log is of a newer release
   */
  public static LogDirectory read(FileStore store, String directory) throws IOException {
    return new Reading(store, directory).read();
  }

  /** What the logs of a directory say of each other, by number. */
  static Map<Long, Claim> claims(FileStore store, String directory) throws IOException {
    return new Reading(store, directory).claims();
  }

  /** Oldest first; logs that are not needed any more, or hold nothing on purpose, are left out. */
  public List<Summary> logs() {
    return logs.stream()
        .map(
            log ->
                new Summary(
                    log.path(),
                    log.number(),
                    log.end(),
                    log.tornBytes(),
                    log.complete(),
                    log.header() == null,
                    log.records().tablets()))
        .toList();
  }

  /** All damage, also what an operator has accepted. */
  public List<Damage> damage() {
    return damage;
  }

  /** The tablets that have records. */
  public Set<String> tablets() {
    Set<String> tablets = new TreeSet<>();
    logs.forEach(log -> tablets.addAll(log.records().tablets()));
    return tablets;
  }

  /**
   * The records of a tablet from its stays in {@code epochs}, in order of their sequences, without
   * those that end at or before {@code above}. A record may begin before it: take its cells with
   * {@link LogRecord#visitCells}.
   *
   * @throws CorruptFileException if records of the tablet may be lost; also from the cursor
   */
  public LogCursor records(String tabletId, IntPredicate epochs, long above)
      throws CorruptFileException {
    for (Damage found : damage) {
      if (!found.accepted() && mayConcern(found, tabletId, epochs, above)) {
        throw new CorruptFileException(
            found.path(),
            found.offset(),
            found.what() + "; records of tablet " + tabletId + " may be lost");
      }
    }
    List<LogCursor.Part> parts = new ArrayList<>();
    for (RecoveredLog log : logs) {
      List<Extent> extents = new ArrayList<>();
      for (Stay stay : log.records().stays()) {
        if (stay.tabletId().equals(tabletId) && epochs.test(stay.epoch())) {
          for (Extent extent : log.records().extents(stay)) {
            if (Long.compareUnsigned(extent.lastSequence(), above) > 0) {
              extents.add(extent);
            }
          }
        }
      }
      if (!extents.isEmpty() && log.header() != null) {
        extents.sort((a, b) -> Long.compare(a.start(), b.start()));
        parts.add(new LogCursor.Part(log.path(), log.header().salt(), extents));
      }
    }
    return new LogCursor(store, parts, tabletId, epochs, above);
  }

  /**
   * Leaves an index beside each log that had to be scanned, so that others who open tablets from it
   * need not scan it again. Several servers may do so at once and get in each other's way: an index
   * that is not whole does not verify, and one that is missing is made by who needs it.
   */
  public void writeIndexes() {
    for (RecoveredLog log : logs) {
      try {
        log.writeIndexBeside(store);
      } catch (IOException e) {
        LOG.info("{}: no index is left beside it, others will scan it too", log.path(), e);
      }
    }
  }

  // ---- Whom damage concerns

  private boolean mayConcern(Damage found, String tabletId, IntPredicate epochs, long above) {
    Map<String, Long> tablets = found.tablets();
    if (tablets != null) {
      Long highest = tablets.get(tabletId);
      return highest != null && Long.compareUnsigned(highest, above) > 0;
    }
    return !nothingIsMissing(found, tabletId, epochs, above);
  }

  /**
   * Sequences of a tablet are given out without gaps: so if the first record behind the damage
   * follows the last one before it, or the flushed ones, then none of its records lay between.
   */
  private boolean nothingIsMissing(Damage found, String tabletId, IntPredicate epochs, long above) {
    long before = above;
    long after = 0;
    boolean hasAfter = false;
    for (RecoveredLog log : logs) {
      for (Stay stay : log.records().stays()) {
        if (!stay.tabletId().equals(tabletId) || !epochs.test(stay.epoch())) {
          continue;
        }
        for (Extent extent : log.records().extents(stay)) {
          boolean isBefore =
              log.number() < found.number()
                  || (log.number() == found.number() && extent.end() <= found.offset());
          boolean isAfter =
              log.number() > found.number()
                  || (log.number() == found.number() && extent.start() >= found.end());
          if (isBefore && Long.compareUnsigned(extent.lastSequence(), before) > 0) {
            before = extent.lastSequence();
          } else if (isAfter
              && (!hasAfter || Long.compareUnsigned(extent.firstSequence(), after) < 0)) {
            after = extent.firstSequence();
            hasAfter = true;
          } else if (!isBefore && !isAfter) {
            return false;
          }
        }
      }
    }
    return hasAfter && Long.compareUnsigned(after - 1, before) <= 0;
  }

  // ---- Reading

  /** The state of one reading. */
  private static final class Reading {
    private final FileStore store;
    private final String directory;
    private final TreeMap<Long, String> paths = new TreeMap<>();
    private final Set<Long> accepted = new HashSet<>();
    private final Map<Long, LogHeader> headers = new HashMap<>();
    private final Map<Long, Claim> claims = new TreeMap<>();
    private final Set<Long> holdNothing = new HashSet<>();
    private final List<RecoveredLog> logs = new ArrayList<>();
    private final List<Damage> damage = new ArrayList<>();
    private long lowestLive;

    Reading(FileStore store, String directory) {
      this.store = store;
      this.directory = directory;
    }

    /** What the logs of the directory say of each other. */
    Map<Long, Claim> claims() throws IOException {
      list();
      readHeaders();
      return claims;
    }

    private void readHeaders() throws IOException {
      for (Map.Entry<Long, String> entry : paths.entrySet()) {
        LogHeader header = RecoveredLog.readHeader(store, entry.getValue());
        if (header != null) {
          headers.put(entry.getKey(), header);
          hear(header);
        }
      }
    }

    LogDirectory read() throws IOException {
      list();
      readHeaders();
      readLogs();
      findMissing();
      Collections.reverse(logs);
      damage.sort(
          (a, b) ->
              a.number() != b.number()
                  ? Long.compare(a.number(), b.number())
                  : Long.compare(a.offset(), b.offset()));
      report();
      return new LogDirectory(store, List.copyOf(logs), List.copyOf(damage));
    }

    private void list() throws IOException {
      for (FileStore.Entry entry : store.list(directory)) {
        String name = entry.name();
        OptionalLong number = LogName.number(name);
        if (number.isPresent()) {
          paths.put(number.getAsLong(), directory + "/" + name);
        } else if (name.endsWith(LogName.ACCEPTED_LOSS_SUFFIX)) {
          String log = name.substring(0, name.length() - LogName.ACCEPTED_LOSS_SUFFIX.length());
          LogName.number(log).ifPresent(accepted::add);
        }
      }
    }

    /** Takes in what a header says of the logs before it. */
    private void hear(LogHeader header) {
      lowestLive = Math.max(lowestLive, header.lowestLive());
      List<Predecessor> predecessors = header.predecessors();
      for (int i = 0; i < predecessors.size(); i++) {
        Predecessor predecessor = predecessors.get(i);
        boolean newest = i == predecessors.size() - 1;
        Claim known = claims.getOrDefault(predecessor.number(), Claim.NONE);
        claims.put(
            predecessor.number(),
            new Claim(
                Math.max(known.synced(), predecessor.synced()),
                predecessor.end(),
                newest ? header.tablets() : known.tablets()));
        long next = newest ? header.number() : predecessors.get(i + 1).number();
        if (next > predecessor.number()) {
          holdNothing.addAll(paths.subMap(predecessor.number(), false, next, false).keySet());
        }
      }
    }

    /** Newest first, since newer logs say which older ones are not needed. */
    private void readLogs() throws IOException {
      for (Map.Entry<Long, String> entry : paths.descendingMap().entrySet()) {
        long number = entry.getKey();
        if (number < lowestLive || holdNothing.contains(number)) {
          continue;
        }
        RecoveredLog log =
            RecoveredLog.read(
                store,
                entry.getValue(),
                number,
                headers.get(number),
                claims.getOrDefault(number, Claim.NONE),
                accepted.contains(number));
        lowestLive = Math.max(lowestLive, log.lowestLive());
        logs.add(log);
        damage.addAll(log.damage());
      }
    }

    private void findMissing() {
      claims.forEach(
          (number, claim) -> {
            if (number >= lowestLive && !paths.containsKey(number)) {
              damage.add(
                  new Damage(
                      LogName.path(directory, number),
                      number,
                      0,
                      claim.end(),
                      "the log is missing",
                      claim.tablets(),
                      accepted.contains(number)));
            }
          });
    }

    private void report() {
      for (RecoveredLog log : logs) {
        if (log.tornBytes() > 0) {
          LOG.warn(
              "{}: dropped {} bytes behind offset {}, which were written but never acknowledged",
              log.path(),
              log.tornBytes(),
              log.end());
        }
      }
      for (Damage found : damage) {
        LOG.error("{}{}", found, found.accepted() ? " (the loss is accepted)" : "");
      }
    }
  }
}
