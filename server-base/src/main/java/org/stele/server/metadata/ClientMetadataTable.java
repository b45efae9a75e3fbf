package org.stele.server.metadata;

import static org.stele.client.location.MetadataSchema.TABLE_NAME;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.MetadataCondition;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/** The metadata table by way of a client, which finds its tablet and tries again. Thread-safe. */
public final class ClientMetadataTable implements MetadataTable {
  private final SteleClient client;
  private final Clock clock;
  private final Backoff backoff;

  /**
   * @param client whose deadline is that of each operation
   */
  public ClientMetadataTable(SteleClient client, Clock clock, Backoff backoff) {
    this.client = client;
    this.clock = clock;
    this.backoff = backoff;
  }

  @Override
  public @Nullable Row read(Bytes row) {
    Row found = client.lookup(TABLE_NAME, row);
    return found.isEmpty() ? null : found;
  }

  @Override
  public List<Row> scan(Range range) {
    List<Row> rows = new ArrayList<>();
    List<Cell> cells = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE_NAME).range(range).open()) {
      for (Cell cell : scanner) {
        if (!cells.isEmpty() && !cells.get(0).row().equals(cell.row())) {
          rows.add(new Row(cells.get(0).row(), cells));
          cells.clear();
        }
        cells.add(cell);
      }
    }
    if (!cells.isEmpty()) {
      rows.add(new Row(cells.get(0).row(), cells));
    }
    return rows;
  }

  @Override
  public void apply(MetadataBatch batch) {
    List<MetadataCondition> conditions =
        batch.conditions().stream()
            .map(
                condition ->
                    new MetadataCondition(
                        condition.row(),
                        condition.column().family(),
                        Columns.qualifier(condition.column()),
                        condition.value()))
            .toList();
    long end = clock.nanos() + client.options().deadline().toNanos();
    for (int attempts = 1; ; attempts++) {
      try {
        client.system().applyMetadata(batch.id(), conditions, batch.mutations());
        return;
      } catch (SteleException e) {
        // The server recognises the batch by its mark if it was done.
        if (e.code() != ErrorCode.UNKNOWN_OUTCOME
            || clock.nanos() - end > 0
            || !backoff.pause(attempts)) {
          throw e;
        }
      }
    }
  }
}
