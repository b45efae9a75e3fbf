package org.stele.core.sortedfile;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.stele.core.compression.Compression;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.MalformedBytesException;

/**
 * What a sorted file says of itself. Ranges are inclusive; those of an empty file are all zero.
 *
 * @param entries cells, delete markers among them
 * @param rows rows with at least one entry
 * @param minSequence unsigned, as all sequences
 * @param firstKey encoded; empty if there is no entry
 * @param keyBytes encoded keys before prefix compression
 * @param extra what the owner of the file keeps with it, by name
 */
public record SortedFileProperties(
    String tableId,
    Compression compression,
    int blockBytes,
    long entries,
    long rows,
    long minSequence,
    long maxSequence,
    long minTimestamp,
    long maxTimestamp,
    Bytes firstKey,
    Bytes lastKey,
    long columnDeletes,
    long familyDeletes,
    long rowDeletes,
    long keyBytes,
    long valueBytes,
    long dataBlocks,
    long indexBlocks,
    Index index,
    Filter filter,
    Map<String, Bytes> extra) {

  private static final int TABLE_ID = 1;
  private static final int COMPRESSION = 2;
  private static final int BLOCK_BYTES = 3;
  private static final int ENTRIES = 4;
  private static final int ROWS = 5;
  private static final int SEQUENCES = 6;
  private static final int TIMESTAMPS = 7;
  private static final int FIRST_KEY = 8;
  private static final int LAST_KEY = 9;
  private static final int DELETES = 10;
  private static final int RAW_BYTES = 11;
  private static final int BLOCKS = 12;
  private static final int INDEX = 13;
  private static final int FILTER = 14;
  private static final int CHECKSUM = 15;
  private static final int EXTRA = 16;

  public SortedFileProperties {
    extra = Map.copyOf(extra);
  }

  /** Whether a reader that starts inside a row must look for deletes of the row or a family. */
  public boolean hasScopeDeletes() {
    return familyDeletes + rowDeletes > 0;
  }

  public boolean hasDeletes() {
    return columnDeletes + familyDeletes + rowDeletes > 0;
  }

  /**
   * Where the index begins.
   *
   * @param levels index blocks on the way from the root to a data block, the root included
   */
  public record Index(int levels, long rootOffset, int rootLength) {}

  /**
   * The row filter: sections for consecutive rows; none if the file has no filter.
   *
   * @param probes bits looked at for each row
   */
  public record Filter(int bitsPerRow, int probes, List<Section> sections) {
    static final Filter NONE = new Filter(0, 0, List.of());

    public Filter {
      sections = List.copyOf(sections);
    }

    /**
     * Filter lines of the rows up to {@code lastRow}.
     *
     * @param lastRow encoded, without the last byte of its end
     */
    public record Section(Bytes lastRow, long offset, int lines) {}
  }

  byte[] encode() {
    Fields fields = new Fields();
    fields.put(TABLE_ID, value -> value.writeBytes(tableId.getBytes(UTF_8)));
    fields.put(COMPRESSION, value -> value.writeByte(compression.id()));
    fields.put(BLOCK_BYTES, value -> value.writeVarint(blockBytes));
    fields.put(ENTRIES, value -> value.writeVarlong(entries));
    fields.put(ROWS, value -> value.writeVarlong(rows));
    fields.put(SEQUENCES, value -> value.writeLong(minSequence).writeLong(maxSequence));
    fields.put(TIMESTAMPS, value -> value.writeLong(minTimestamp).writeLong(maxTimestamp));
    fields.put(FIRST_KEY, value -> value.writeBytes(firstKey.unsafeArray()));
    fields.put(LAST_KEY, value -> value.writeBytes(lastKey.unsafeArray()));
    fields.put(
        DELETES,
        value ->
            value.writeVarlong(columnDeletes).writeVarlong(familyDeletes).writeVarlong(rowDeletes));
    fields.put(RAW_BYTES, value -> value.writeVarlong(keyBytes).writeVarlong(valueBytes));
    fields.put(BLOCKS, value -> value.writeVarlong(dataBlocks).writeVarlong(indexBlocks));
    fields.put(
        INDEX,
        value ->
            value
                .writeVarint(index.levels)
                .writeVarlong(index.rootOffset)
                .writeVarint(index.rootLength));
    fields.put(FILTER, this::encodeFilter);
    fields.put(CHECKSUM, value -> value.writeByte(SortedFileFormat.CHECKSUM_CRC32C));
    new TreeMap<>(extra)
        .forEach(
            (name, bytes) ->
                fields.put(
                    EXTRA,
                    value ->
                        value
                            .writeByteString(name.getBytes(UTF_8))
                            .writeBytes(bytes.unsafeArray())));
    return fields.out.toByteArray();
  }

  private void encodeFilter(ByteWriter value) {
    value.writeVarint(filter.bitsPerRow).writeVarint(filter.probes);
    value.writeVarint(filter.sections.size());
    for (Filter.Section section : filter.sections) {
      value
          .writeByteString(section.lastRow.unsafeArray())
          .writeVarlong(section.offset)
          .writeVarint(section.lines);
    }
  }

  /**
   * Decodes; fields that are not known are passed over.
   *
   * @throws MalformedBytesException if a known field is malformed or missing
   */
  static SortedFileProperties decode(byte[] encoded) {
    ByteReader in = new ByteReader(encoded);
    Map<Integer, ByteReader> fields = new TreeMap<>();
    Map<String, Bytes> extra = new TreeMap<>();
    while (in.hasRemaining()) {
      int tag = in.readVarint();
      int length = in.readLength();
      ByteReader value = new ByteReader(in.array(), in.position(), length);
      in.skip(length);
      if (tag == EXTRA) {
        String name = new String(value.readByteString(), UTF_8);
        extra.put(name, Bytes.wrap(value.readBytes(value.remaining())));
      } else if (fields.put(tag, value) != null) {
        throw new MalformedBytesException("property " + tag + " stands twice");
      }
    }
    ByteReader sequences = field(fields, SEQUENCES);
    ByteReader timestamps = field(fields, TIMESTAMPS);
    ByteReader deletes = field(fields, DELETES);
    ByteReader rawBytes = field(fields, RAW_BYTES);
    ByteReader blocks = field(fields, BLOCKS);
    ByteReader index = field(fields, INDEX);
    int checksum = field(fields, CHECKSUM).readUnsignedByte();
    if (checksum != SortedFileFormat.CHECKSUM_CRC32C) {
      throw new MalformedBytesException("unknown checksum type " + checksum);
    }
    return new SortedFileProperties(
        new String(rest(field(fields, TABLE_ID)), UTF_8),
        Compression.ofId(field(fields, COMPRESSION).readUnsignedByte()),
        field(fields, BLOCK_BYTES).readVarint(),
        field(fields, ENTRIES).readVarlong(),
        field(fields, ROWS).readVarlong(),
        sequences.readLong(),
        sequences.readLong(),
        timestamps.readLong(),
        timestamps.readLong(),
        Bytes.wrap(rest(field(fields, FIRST_KEY))),
        Bytes.wrap(rest(field(fields, LAST_KEY))),
        deletes.readVarlong(),
        deletes.readVarlong(),
        deletes.readVarlong(),
        rawBytes.readVarlong(),
        rawBytes.readVarlong(),
        blocks.readVarlong(),
        blocks.readVarlong(),
        new Index(index.readVarint(), index.readVarlong(), index.readVarint()),
        decodeFilter(field(fields, FILTER)),
        extra);
  }

  private static ByteReader field(Map<Integer, ByteReader> fields, int tag) {
    ByteReader value = fields.get(tag);
    if (value == null) {
      throw new MalformedBytesException("property " + tag + " is missing");
    }
    return value;
  }

  private static byte[] rest(ByteReader value) {
    return value.readBytes(value.remaining());
  }

  private static Filter decodeFilter(ByteReader value) {
    int bits = value.readVarint();
    int probes = value.readVarint();
    int count = value.readVarint();
    List<Filter.Section> sections = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sections.add(
          new Filter.Section(
              Bytes.wrap(value.readByteString()), value.readVarlong(), value.readVarint()));
    }
    return new Filter(bits, probes, sections);
  }

  /** Appends fields: tag (varint), length (varint), value. */
  private static final class Fields {
    final ByteWriter out = new ByteWriter(512);
    private final ByteWriter value = new ByteWriter(64);

    void put(int tag, Consumer<ByteWriter> encoder) {
      value.clear();
      encoder.accept(value);
      out.writeVarint(tag).writeByteString(value.array(), 0, value.length());
    }
  }
}
