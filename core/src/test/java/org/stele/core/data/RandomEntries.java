package org.stele.core.data;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Makes random histories in few rows, columns and timestamps, so that they meet often. */
public final class RandomEntries {
  /**
   * Parts that have tripped others: empty, zeros, the sign bit, all ones, prefixes of each other.
   */
  private static final List<Bytes> PARTS =
      List.of(
          hex(""),
          hex("00"),
          hex("0000"),
          hex("00ff"),
          hex("01"),
          hex("0100"),
          hex("61"),
          hex("6100"),
          hex("61ff"),
          hex("6162"),
          hex("7f"),
          hex("80"),
          hex("ff"),
          hex("ffff"));

  private final Random random;
  private final int parts;
  private final int timestamps;
  private final boolean withDeletes;

  public RandomEntries(Random random, boolean withDeletes) {
    this.random = random;
    this.parts = 1 + random.nextInt(PARTS.size());
    this.timestamps = 1 + random.nextInt(8);
    this.withDeletes = withDeletes;
  }

  private static Bytes hex(String digits) {
    return Bytes.wrap(HexFormat.of().parseHex(digits));
  }

  public Bytes part() {
    return PARTS.get(random.nextInt(parts));
  }

  /** A part that is not empty. */
  public Bytes row() {
    return PARTS.get(1 + random.nextInt(PARTS.size() - 1));
  }

  public long timestamp() {
    return random.nextInt(timestamps) - 1L;
  }

  public Column column() {
    return new Column(part(), random.nextInt(3) == 0 ? null : part());
  }

  /** Up to three columns; often none, which stands for all. */
  public List<Column> columns() {
    List<Column> columns = new ArrayList<>();
    for (int i = random.nextInt(8) - 4; i > 0; i--) {
      columns.add(column());
    }
    return columns;
  }

  public Bound bound() {
    List<Bytes> chosen = new ArrayList<>(List.of(row()));
    int count = 1 + random.nextInt(4);
    while (chosen.size() < count) {
      chosen.add(part());
    }
    Long timestamp = count == 4 && random.nextBoolean() ? timestamp() : null;
    return new Bound(chosen, timestamp, random.nextBoolean());
  }

  /** A range that is open at either side now and then. */
  public Range range() {
    Bound start = random.nextInt(4) == 0 ? null : bound();
    Bound stop = random.nextInt(4) == 0 ? null : bound();
    try {
      return new Range(start, stop);
    } catch (IllegalArgumentException e) {
      return new Range(stop, start); // the start lay after the stop
    }
  }

  /** Entries with rising sequences from {@code firstSequence} on. */
  public List<CellModel.Entry> history(int count, long firstSequence) {
    List<CellModel.Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      entries.add(entry(firstSequence + i));
    }
    return entries;
  }

  private CellModel.Entry entry(long sequence) {
    CellType type = type();
    boolean hasFamily = type != CellType.DELETE_ROW;
    boolean hasColumn = hasFamily && type != CellType.DELETE_FAMILY;
    return new CellModel.Entry(
        row(),
        hasFamily ? part() : Bytes.EMPTY,
        hasColumn ? part() : Bytes.EMPTY,
        hasColumn && random.nextInt(4) == 0 ? part() : Bytes.EMPTY,
        timestamp(),
        sequence,
        type,
        type == CellType.PUT ? Bytes.of("v" + sequence) : Bytes.EMPTY);
  }

  private CellType type() {
    if (!withDeletes) {
      return CellType.PUT;
    }
    return switch (random.nextInt(20)) {
      case 0 -> CellType.DELETE_ROW;
      case 1, 2 -> CellType.DELETE_FAMILY;
      case 3, 4, 5 -> CellType.DELETE_COLUMN;
      default -> CellType.PUT;
    };
  }
}
