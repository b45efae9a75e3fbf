package org.stele.tserver.bench;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;

/** A table of a benchmark, deleted at its end. */
record BenchTable(SteleClient client, String name) implements AutoCloseable {
  /** Creates a table whose name nobody else has. */
  static BenchTable create(SteleClient client, String prefix, TableOptions options) {
    String suffix = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    BenchTable table = new BenchTable(client, prefix + "." + suffix);
    client.tables().create(table.name(), options);
    return table;
  }

  @Override
  public void close() {
    client.tables().delete(name);
  }
}
