package org.stele.core.data;

/**
 * The largest data that is taken anywhere; the client refuses more before it sends, the server
 * before it logs.
 */
public final class DataLimits {
  /** Row, family, qualifier and visibility of a cell together, in bytes. */
  public static final int MAX_KEY_BYTES = 1 << 20;

  /** One value, in bytes. */
  public static final int MAX_VALUE_BYTES = 16 << 20;

  /** All keys and values of one mutation, in bytes. */
  public static final int MAX_MUTATION_BYTES = 32 << 20;

  /**
   * All keys and values of one request to write, in bytes; a row that travels once counts with each
   * of its updates.
   */
  public static final int MAX_WRITE_BYTES = 64 << 20;

  /** A table name, in characters of {@code [A-Za-z0-9_.-]}. */
  public static final int MAX_TABLE_NAME_LENGTH = 255;

  private DataLimits() {}
}
