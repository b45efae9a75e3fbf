package org.stele.core.data;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes of one row that become visible, and durable, all or none. Updates apply in the order they
 * were added: of two that meet at one column and timestamp the later wins, and a delete hides only
 * what was written before it.
 *
 * <p>Not thread-safe while it is built; not to be changed after it was handed to a writer.
 */
public final class Mutation {
  private final Bytes row;
  private final List<Update> updates = new ArrayList<>();
  private long bytes;

  private Mutation(Bytes row) {
    if (row.isEmpty()) {
      throw new IllegalArgumentException("the row is empty: a row has at least one byte");
    }
    this.row = row;
  }

  public static Mutation of(Bytes row) {
    return new Mutation(row);
  }

  public static Mutation of(String row) {
    return of(Bytes.of(row));
  }

  public Mutation put(String family, String qualifier, String value) {
    return put(Bytes.of(family), Bytes.of(qualifier), Bytes.of(value));
  }

  /** Sets a column; the server gives the timestamp. */
  public Mutation put(Bytes family, Bytes qualifier, Bytes value) {
    return put(family, qualifier, Bytes.EMPTY, null, value);
  }

  /**
   * Sets a column.
   *
   * @param timestamp null: given by the server
   * @throws LimitException if key or value are above {@link DataLimits}
   */
  public Mutation put(
      Bytes family, Bytes qualifier, Bytes visibility, @Nullable Long timestamp, Bytes value) {
    return add(new Update(CellType.PUT, family, qualifier, visibility, timestamp, value));
  }

  public Mutation deleteColumn(String family, String qualifier) {
    return deleteColumn(Bytes.of(family), Bytes.of(qualifier));
  }

  /** Hides what was written to the column before, at or before the time the server gives. */
  public Mutation deleteColumn(Bytes family, Bytes qualifier) {
    return deleteColumn(family, qualifier, Bytes.EMPTY, null);
  }

  /**
   * Hides what was written to the column (with this visibility) before, at or before {@code
   * timestamp}.
   */
  public Mutation deleteColumn(
      Bytes family, Bytes qualifier, Bytes visibility, @Nullable Long timestamp) {
    return add(
        new Update(CellType.DELETE_COLUMN, family, qualifier, visibility, timestamp, Bytes.EMPTY));
  }

  /** Hides all that was written to the family before, whatever its qualifiers and visibilities. */
  public Mutation deleteFamily(Bytes family, @Nullable Long timestamp) {
    return add(
        new Update(
            CellType.DELETE_FAMILY, family, Bytes.EMPTY, Bytes.EMPTY, timestamp, Bytes.EMPTY));
  }

  /** Hides all that was written to the row before. */
  public Mutation deleteRow() {
    return deleteRow(null);
  }

  public Mutation deleteRow(@Nullable Long timestamp) {
    return add(
        new Update(
            CellType.DELETE_ROW, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, timestamp, Bytes.EMPTY));
  }

  /**
   * Adds an update.
   *
   * @throws LimitException if key, value or the whole mutation are above {@link DataLimits}
   */
  public Mutation add(Update update) {
    long keyBytes =
        (long) row.length()
            + update.family().length()
            + update.qualifier().length()
            + update.visibility().length();
    if (keyBytes > DataLimits.MAX_KEY_BYTES) {
      throw new LimitException(
          "key of "
              + keyBytes
              + " bytes: row, family, qualifier and visibility may have "
              + DataLimits.MAX_KEY_BYTES
              + " bytes together");
    }
    if (update.value().length() > DataLimits.MAX_VALUE_BYTES) {
      throw new LimitException(
          "value of "
              + update.value().length()
              + " bytes: the limit is "
              + DataLimits.MAX_VALUE_BYTES);
    }
    long more = bytes + keyBytes + update.value().length() + KeyCodec.TRAILER_LENGTH;
    if (more > DataLimits.MAX_MUTATION_BYTES) {
      throw new LimitException(
          "mutation of more than "
              + DataLimits.MAX_MUTATION_BYTES
              + " bytes for row of "
              + row.length()
              + " bytes");
    }
    bytes = more;
    updates.add(update);
    return this;
  }

  public Bytes row() {
    return row;
  }

  /** The updates in the order they were added, as a view. */
  public List<Update> updates() {
    return Collections.unmodifiableList(updates);
  }

  /** Keys and values together: the row counts with each update. */
  public long bytes() {
    return bytes;
  }

  /**
   * Adds a mutation to the others of a request.
   *
   * @param before the bytes of those
   * @return the bytes of all
   * @throws LimitException if that is more than {@link DataLimits#MAX_WRITE_BYTES}
   */
  public long addedTo(long before) {
    long all = before + bytes;
    if (all > DataLimits.MAX_WRITE_BYTES) {
      throw new LimitException(
          "a write of at least "
              + all
              + " bytes of keys and values, where a row counts with each of its updates: the limit"
              + " is "
              + DataLimits.MAX_WRITE_BYTES
              + " bytes");
    }
    return all;
  }

  @Override
  public String toString() {
    return "mutation of row " + row + ", " + updates.size() + " updates";
  }
}
