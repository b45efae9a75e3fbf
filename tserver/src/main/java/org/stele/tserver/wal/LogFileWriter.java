package org.stele.tserver.wal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Durability;
import org.stele.core.file.FileOutput;
import org.stele.tserver.wal.ExtentIndex.Extent;

/**
 * One log file while it is written: header, groups, index. Used by one thread at a time ({@code
 * wal-sync}, then whoever finishes it). After any of its methods has thrown it is only good for
 * {@link #close()}; what was acknowledged before stays true.
 *
 * <p>Always holds: {@code synced <= acknowledged <= position}; between groups {@code acknowledged}
 * is where the records end that were acknowledged or may be.
 */
final class LogFileWriter {
  /** A buffer that a large entry has made larger than this is given up after it. */
  private static final int KEPT_BUFFER_BYTES = 8 << 20;

  private static final int CHECKSUM_LENGTH = 4;

  private final String path;
  private final FileOutput out;
  private final LogHeader header;
  private final LogChecksum checksum;
  private final LogMetrics metrics;
  private final ExtentIndex index = new ExtentIndex();

  private final List<LogEntry> groupEntries = new ArrayList<>();
  private final List<Extent> groupExtents = new ArrayList<>();
  private ByteWriter group = new ByteWriter(64 << 10);

  private long synced;
  private volatile long acknowledged;

  LogFileWriter(String path, FileOutput out, LogHeader header, LogMetrics metrics) {
    this.path = path;
    this.out = out;
    this.header = header;
    this.checksum = new LogChecksum(header.salt());
    this.metrics = metrics;
  }

  /** Writes and syncs the header: from now on the file counts. */
  void begin() throws IOException {
    group.clear();
    group.writeBytes(LogHeader.encode(header));
    writeAndSync();
  }

  String path() {
    return path;
  }

  long number() {
    return header.number();
  }

  /** The number of the oldest needed log, as the header says it. */
  long lowestLive() {
    return header.lowestLive();
  }

  /** Bytes known to be on the disk. */
  long synced() {
    return synced;
  }

  /** Where the acknowledged records end. Any thread. */
  long acknowledged() {
    return acknowledged;
  }

  long bytesOfGroups() {
    return acknowledged - header.length();
  }

  boolean isEmpty() {
    return index.isEmpty();
  }

  void startGroup() {
    if (group.array().length > KEPT_BUFFER_BYTES) {
      group = new ByteWriter(64 << 10);
    }
    group.clear();
    groupEntries.clear();
    groupExtents.clear();
    for (int i = 0; i < GroupHeader.LENGTH / 8; i++) {
      group.writeLong(0);
    }
  }

  int groupBytes() {
    return group.length();
  }

  /**
   * Encodes an entry that has its place as the next record of the group.
   *
   * @throws RuntimeException if the entry cannot be logged; the group is as before
   */
  void add(LogEntry entry) {
    long start = acknowledged + group.length();
    RecordCodec.write(group, acknowledged, entry, checksum);
    groupEntries.add(entry);
    groupExtents.add(
        new Extent(
            start, acknowledged + group.length(), entry.firstSequence(), entry.lastSequence()));
  }

  /** Writes the group in one go, and makes it as durable as asked. */
  void writeGroup(Durability durability, long lowestLive) throws IOException {
    int body = group.length() - GroupHeader.LENGTH;
    new GroupHeader(
            GroupHeader.RECORDS, body, groupEntries.size(), acknowledged, synced, lowestLive)
        .put(group.array(), 0, checksum);
    write();
    switch (durability) {
      case NONE, LOG -> {}
      case FLUSH -> out.flush();
      case SYNC -> sync();
    }
    long end = acknowledged + group.length();
    acknowledged = end;
    synced = durability == Durability.SYNC ? end : synced;
    for (int i = 0; i < groupEntries.size(); i++) {
      LogEntry entry = groupEntries.get(i);
      index.add(entry.tabletId(), (int) entry.epoch(), groupExtents.get(i));
    }
    groupEntries.clear();
    groupExtents.clear();
  }

  /** Syncs what weaker groups have left unsynced. */
  void syncAll() throws IOException {
    if (synced < acknowledged) {
      sync();
      synced = acknowledged;
    }
  }

  /**
   * Writes the index and the trailer, syncs and closes: the file is complete. The records are
   * synced before, so that a crash cannot leave an index of records that are not there.
   */
  void finish(long lowestLive) throws IOException {
    syncAll();
    startGroup();
    index.encode(group);
    long bodyStart = acknowledged + GroupHeader.LENGTH;
    int indexLength = group.length() - GroupHeader.LENGTH;
    group.writeInt(checksum.of(bodyStart, group.array(), GroupHeader.LENGTH, indexLength));
    new GroupHeader(
            GroupHeader.INDEX, indexLength + CHECKSUM_LENGTH, 0, acknowledged, synced, lowestLive)
        .put(group.array(), 0, checksum);
    new LogTrailer(acknowledged).write(group, acknowledged + group.length(), checksum);
    write();
    sync();
    out.close();
  }

  /** Closes without writing anything. */
  void close() throws IOException {
    out.close();
  }

  private void writeAndSync() throws IOException {
    write();
    sync();
    acknowledged = group.length();
    synced = acknowledged;
  }

  private void write() throws IOException {
    out.write(ByteBuffer.wrap(group.array(), 0, group.length()));
    metrics.bytes.add(group.length());
  }

  private void sync() throws IOException {
    long began = metrics.nanos();
    out.sync();
    metrics.syncedSince(began);
  }
}
