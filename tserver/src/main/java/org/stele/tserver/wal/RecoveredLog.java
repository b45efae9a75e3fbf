package org.stele.tserver.wal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.LogDirectory.Damage;

/**
 * One log of a dead session, read as far as needed to know which tablet has records where: from the
 * index of a log that was closed properly, else from the one that an earlier recovery left beside
 * it, else by a scan.
 *
 * @param header null if the log has none
 * @param records where the records of each tablet lie
 * @param end where the records end
 * @param tornBytes bytes behind {@code end} that were written but never acknowledged
 * @param complete whether the log was closed properly
 * @param scanned whether the whole log has just been read
 */
record RecoveredLog(
    String path,
    long number,
    @Nullable LogHeader header,
    ExtentIndex records,
    long end,
    long tornBytes,
    long lowestLive,
    boolean complete,
    boolean scanned,
    List<Damage> damage) {

  /** "STELEIDX". */
  private static final long INDEX_MAGIC = 0x5354_454c_4549_4458L;

  /**
   * What later logs say of a log.
   *
   * @param synced bytes that were on the disk
   * @param end where the acknowledged records end
   * @param tablets its tablets with their highest sequences; null if unknown: any tablet
   */
  record Claim(long synced, long end, @Nullable Map<String, Long> tablets) {
    static final Claim NONE = new Claim(0, Long.MAX_VALUE, null);
  }

  /** Reads the header; null if the file has no whole one. */
  static @Nullable LogHeader readHeader(FileStore store, String path) throws IOException {
    try (LogWindow window = LogWindow.open(store, path, Long.MAX_VALUE)) {
      return readHeader(window);
    }
  }

  static @Nullable LogHeader readHeader(LogWindow window) throws IOException {
    byte[] prefix = read(window, LogHeader.PREFIX_LENGTH);
    int length = prefix == null ? -1 : LogHeader.announcedLength(prefix);
    byte[] bytes = length < 0 ? null : read(window, length);
    return bytes == null ? null : LogHeader.decode(window.path(), bytes);
  }

  private static byte @Nullable [] read(LogWindow window, int length) throws IOException {
    int at = window.load(0, length);
    return at < 0 ? null : new ByteReader(window.array(), at, length).readBytes(length);
  }

  /**
   * @param accepted whether an operator accepts the loss of what is damaged: then the log is
   *     scanned in any case, so that only what is good is in {@link #records}
   */
  static RecoveredLog read(
      FileStore store,
      String path,
      long number,
      @Nullable LogHeader header,
      Claim claim,
      boolean accepted)
      throws IOException {
    try (LogWindow window = LogWindow.open(store, path, Long.MAX_VALUE)) {
      if (header == null) {
        return withoutHeader(window, number, claim, accepted);
      }
      RecoveredLog indexed = accepted ? null : fromIndex(store, window, header, claim);
      return indexed != null ? indexed : scan(store, path, header, claim, accepted);
    }
  }

  /**
   * A file whose header is not whole is an empty log that was just being made, unless a later log
   * knows it, or it holds groups: before the first of them the header was on the disk.
   */
  private static RecoveredLog withoutHeader(
      LogWindow window, long number, Claim claim, boolean accepted) throws IOException {
    boolean damaged = claim.synced > 0 || window.findGroup(0, null) >= 0;
    List<Damage> damage =
        damaged
            ? List.of(
                new Damage(
                    window.path(),
                    number,
                    0,
                    Math.max(window.limit(), claim.synced),
                    "the header is damaged, so nothing can be read",
                    claim.tablets,
                    accepted))
            : List.of();
    return new RecoveredLog(
        window.path(), number, null, new ExtentIndex(), 0, 0, 0, false, true, damage);
  }

  private static @Nullable RecoveredLog fromIndex(
      FileStore store, LogWindow window, LogHeader header, Claim claim) throws IOException {
    RecoveredLog own = fromOwnIndex(window, header);
    boolean agrees = own != null && (claim.equals(Claim.NONE) || own.end == claim.end);
    return agrees ? own : fromIndexBeside(store, window, header, claim);
  }

  /** From the trailer and index of a log that was closed properly. */
  private static @Nullable RecoveredLog fromOwnIndex(LogWindow window, LogHeader header)
      throws IOException {
    LogChecksum checksum = new LogChecksum(header.salt());
    long trailerAt = window.endOfContent() - LogTrailer.LENGTH;
    int at = window.load(trailerAt, LogTrailer.LENGTH);
    LogTrailer trailer = at < 0 ? null : LogTrailer.parse(window.array(), at, trailerAt, checksum);
    GroupHeader group = trailer == null ? null : window.groupAt(trailer.indexPosition(), checksum);
    if (group == null || group.kind() != GroupHeader.INDEX || group.bodyLength() < 4) {
      return null;
    }
    at = window.load(group.bodyStart(), group.bodyLength());
    if (at < 0) {
      return null;
    }
    int length = group.bodyLength() - 4;
    ByteReader in = new ByteReader(window.array(), at, length + 4);
    in.skip(length);
    if (in.readInt() != checksum.of(group.bodyStart(), window.array(), at, length)) {
      return null;
    }
    try {
      in.reset(window.array(), at, length);
      ExtentIndex index = ExtentIndex.decode(in, header.length(), group.position());
      return new RecoveredLog(
          window.path(),
          header.number(),
          header,
          index,
          group.position(),
          0,
          group.lowestLive(),
          true,
          false,
          List.of());
    } catch (MalformedBytesException e) {
      return null;
    }
  }

  private static RecoveredLog scan(
      FileStore store, String path, LogHeader header, Claim claim, boolean accepted)
      throws IOException {
    try (LogWindow window = LogWindow.open(store, path, claim.end)) {
      LogScan.Result result = LogScan.scan(window, header, claim.synced);
      List<Damage> damage =
          result.damage().stream()
              .map(
                  hole ->
                      new Damage(
                          path,
                          header.number(),
                          hole.start(),
                          hole.end(),
                          hole.what(),
                          claim.tablets,
                          accepted))
              .toList();
      return new RecoveredLog(
          path,
          header.number(),
          header,
          result.records(),
          result.end(),
          result.tornBytes(),
          result.lowestLive(),
          false,
          true,
          damage);
    }
  }

  // ---- The index beside a log

  private static @Nullable RecoveredLog fromIndexBeside(
      FileStore store, LogWindow window, LogHeader header, Claim claim) throws IOException {
    String path = window.path() + LogName.INDEX_SUFFIX;
    byte[] bytes;
    try (LogWindow index = LogWindow.open(store, path, Integer.MAX_VALUE)) {
      byte[] read = read(index, (int) index.limit());
      bytes = read == null ? new byte[0] : read;
    } catch (NoSuchFileException e) {
      return null;
    }
    try {
      ByteReader in = new ByteReader(bytes);
      in.skip(bytes.length - 4);
      int crc = in.readInt();
      if (crc != new LogChecksum(header.salt()).of(0, bytes, 0, bytes.length - 4)) {
        return null;
      }
      in.reset(bytes, 0, bytes.length - 4);
      long magic = in.readLong();
      long end = in.readLong();
      long tornBytes = in.readLong();
      long lowestLive = in.readLong();
      boolean fits = end <= Math.min(window.limit(), claim.end) && end >= claim.synced;
      if (magic != INDEX_MAGIC || !fits) {
        return null;
      }
      ExtentIndex index = ExtentIndex.decode(in, header.length(), end);
      return new RecoveredLog(
          window.path(),
          header.number(),
          header,
          index,
          end,
          tornBytes,
          lowestLive,
          false,
          false,
          List.of());
    } catch (MalformedBytesException e) {
      return null;
    }
  }

  /** Leaves the index of a scanned, undamaged log beside it, for those who open its tablets. */
  void writeIndexBeside(FileStore store) throws IOException {
    if (!scanned || header == null || !damage.isEmpty()) {
      return;
    }
    ByteWriter out = new ByteWriter();
    out.writeLong(INDEX_MAGIC).writeLong(end).writeLong(tornBytes).writeLong(lowestLive);
    records.encode(out);
    out.writeInt(new LogChecksum(header.salt()).of(0, out.array(), 0, out.length()));
    String target = path + LogName.INDEX_SUFFIX;
    String temporary = target + ".tmp";
    store.delete(temporary);
    try (FileOutput file = store.create(temporary)) {
      file.write(ByteBuffer.wrap(out.array(), 0, out.length()));
      file.sync();
    }
    store.delete(target);
    store.rename(temporary, target);
  }
}
