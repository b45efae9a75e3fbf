package org.stele.tserver.wal;

import java.io.IOException;
import java.io.PrintStream;
import java.util.OptionalLong;
import org.stele.core.data.Bytes;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Sequence;
import org.stele.core.data.WriterStamp;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.LogHeader.Predecessor;
import org.stele.tserver.wal.LogScan.Hole;
import org.stele.tserver.wal.RecoveredLog.Claim;

/**
 * Shows and checks one log file for operators. What the logs beside it say of it is taken into
 * account. Cells are shown by {@link #dump} only.
 */
public final class LogDump {
  private final FileStore store;
  private final String path;
  private final PrintStream out;

  private LogDump(FileStore store, String path, PrintStream out) {
    this.store = store;
    this.path = path;
    this.out = out;
  }

  /** The header, and a line for each group and record. */
  public static boolean print(FileStore store, String path, PrintStream out) throws IOException {
    LogDump dump = new LogDump(store, path, out);
    return dump.run(dump.new Lines(false));
  }

  /** As {@link #print}, with the cells. */
  public static boolean dump(FileStore store, String path, PrintStream out) throws IOException {
    LogDump dump = new LogDump(store, path, out);
    return dump.run(dump.new Lines(true));
  }

  /**
   * Reads every byte, and says what is there and what is damaged.
   *
   * @return whether the log is sound: a torn tail is
   */
  public static boolean check(FileStore store, String path, PrintStream out) throws IOException {
    return new LogDump(store, path, out).run(new LogScan.Visitor() {});
  }

  private boolean run(LogScan.Visitor visitor) throws IOException {
    Claim claim = claim();
    LogHeader header = RecoveredLog.readHeader(store, path);
    if (header == null) {
      return runWithoutHeader(claim);
    }
    describe(header);
    try (LogWindow window = LogWindow.open(store, path, claim.end())) {
      LogScan.Result result = LogScan.scan(window, header, claim.synced(), visitor);
      out.printf(
          "records end at %d; %d bytes behind were never acknowledged; %d tablets%n",
          result.end(), result.tornBytes(), result.records().tablets().size());
      for (Hole hole : result.damage()) {
        out.printf("DAMAGED from offset %d to %d: %s%n", hole.start(), hole.end(), hole.what());
      }
      return result.damage().isEmpty();
    }
  }

  private Claim claim() throws IOException {
    int slash = path.lastIndexOf('/');
    OptionalLong number = LogName.number(path.substring(slash + 1));
    return slash < 0 || number.isEmpty()
        ? Claim.NONE
        : LogDirectory.claims(store, path.substring(0, slash))
            .getOrDefault(number.getAsLong(), Claim.NONE);
  }

  private boolean runWithoutHeader(Claim claim) throws IOException {
    RecoveredLog log = RecoveredLog.read(store, path, 0, null, claim, false);
    log.damage().forEach(found -> out.println("DAMAGED: " + found.what()));
    if (log.damage().isEmpty()) {
      out.println("empty: there is no whole header");
    }
    return log.damage().isEmpty();
  }

  private void describe(LogHeader header) {
    out.printf(
        "%s: log %d of session %s, instance %s, format %d, header of %d bytes, logs before %d are not"
            + " needed%n",
        path,
        header.number(),
        header.session(),
        header.instanceId(),
        LogHeader.VERSION,
        header.length(),
        header.lowestLive());
    for (Predecessor predecessor : header.predecessors()) {
      out.printf(
          "log %d: %d bytes synced, records end at %d%n",
          predecessor.number(), predecessor.synced(), predecessor.end());
    }
  }

  /** Prints what the scan finds. */
  private final class Lines implements LogScan.Visitor {
    private final boolean cells;

    Lines(boolean cells) {
      this.cells = cells;
    }

    @Override
    public void group(GroupHeader group) {
      out.printf(
          "%d: %s of %d records, %d bytes; %d bytes were synced%n",
          group.position(),
          group.kind() == GroupHeader.INDEX ? "index" : "group",
          group.count(),
          group.bodyLength(),
          group.syncedUpTo());
    }

    @Override
    public void record(LogRecord found) throws IOException {
      out.printf(
          "%d:   tablet %s, epoch %d, sequences %s to %s, %d bytes%s%n",
          found.offset(),
          found.tabletId(),
          found.epoch(),
          Sequence.toString(found.firstSequence()),
          Sequence.toString(found.lastSequence()),
          found.length(),
          writer(found.writer()));
      if (cells) {
        found.visitCells(0, this::cell);
      }
    }

    private String writer(WriterStamp writer) {
      return writer.isNone()
          ? ""
          : ", writer " + Long.toHexString(writer.writerId()) + " number " + writer.number();
    }

    private void cell(
        long sequence,
        byte[] array,
        int keyOffset,
        int keyLength,
        int valueOffset,
        int valueLength) {
      String key;
      try {
        KeyCodec.DecodedKey decoded = KeyCodec.decode(array, keyOffset, keyLength);
        key =
            decoded.type()
                + " "
                + decoded.row()
                + " "
                + decoded.family()
                + ":"
                + decoded.qualifier()
                + " ["
                + decoded.visibility()
                + "] "
                + decoded.timestamp();
      } catch (MalformedBytesException e) {
        key = "malformed key " + Bytes.of(array, keyOffset, keyLength);
      }
      out.printf(
          "      %s %s = %s%n",
          Sequence.toString(sequence), key, Bytes.of(array, valueOffset, valueLength));
    }

    @Override
    public void hole(Hole hole) {
      out.printf("%d: nothing readable up to %d: %s%n", hole.start(), hole.end(), hole.what());
    }
  }
}
