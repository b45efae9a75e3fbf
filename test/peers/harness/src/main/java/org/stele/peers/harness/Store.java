package org.stele.peers.harness;

import java.util.List;

/** What the scenarios need from a product. One implementation for each that is measured. */
public interface Store extends AutoCloseable {

  /**
   * A table with one column family.
   *
   * @param blockBytes size of a block in the table's files; 0 means the product's default
   * @param cached whether blocks must be cached; else it is as the product has it by default
   * @param durability one of {@code none}, {@code log}, {@code flush}, {@code sync}
   */
  record TableSpec(
      String name,
      String family,
      List<byte[]> splits,
      int blockBytes,
      boolean cached,
      String durability) {}

  record Cell(byte[] family, byte[] qualifier, byte[] value) {}

  /** A change of one row in the product's own form; made once, it can be written many times. */
  interface Mutation {}

  /** Reads whole rows; belongs to one thread. */
  interface RowReader {
    /** Returns the number of cells. */
    int read(byte[] row) throws Exception;
  }

  /** Writes in batches; belongs to one thread. */
  interface Writer extends AutoCloseable {
    void add(Mutation mutation) throws Exception;

    void flush() throws Exception;

    /** Writes a single mutation and waits for it. */
    void commit(Mutation mutation) throws Exception;

    @Override
    void close() throws Exception;
  }

  /** Writes only where a condition holds; belongs to one thread. */
  interface ConditionalWriter extends AutoCloseable {
    /**
     * Where the column {@code meta:seq} of a row holds this number (0: is absent), sets it to the
     * next number. Returns how many of the rows were changed.
     */
    int advance(List<byte[]> rows, long sequence) throws Exception;

    @Override
    void close() throws Exception;
  }

  /** Creates the table, in the place of one of that name. */
  void create(TableSpec table) throws Exception;

  void drop(String table) throws Exception;

  /** Writes to files what is in memory, and waits for it. */
  void flush(String table) throws Exception;

  /** Rewrites the table into one file for each tablet, and waits for it. */
  void compact(String table) throws Exception;

  /** Number of data files of the table; 0 if everything is in memory and in the log only. */
  long files(String table) throws Exception;

  RowReader reader(String table) throws Exception;

  /** Returns the number of cells. */
  long scan(String table) throws Exception;

  /** Scans the rows from {@code from} (inclusive) to {@code to} (exclusive). */
  long scan(String table, byte[] from, byte[] to) throws Exception;

  /** Scans the whole table with many threads, by the ranges between the split points. */
  long parallelScan(String table, List<byte[]> splits, int threads) throws Exception;

  Mutation mutation(byte[] row, Cell... cells);

  /**
   * @param maxThreads of the client library for sending; 0 means the product's default
   */
  Writer writer(String table, int maxThreads) throws Exception;

  ConditionalWriter conditionalWriter(String table) throws Exception;

  /** Another client that gives up early, to find the moment at which a server answers again. */
  Store impatient() throws Exception;

  @Override
  void close() throws Exception;
}
