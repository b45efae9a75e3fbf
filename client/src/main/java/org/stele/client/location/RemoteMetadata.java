package org.stele.client.location;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.LookupAnswer;
import org.stele.client.rpc.ScanAnswer;
import org.stele.client.rpc.ScanQuery;
import org.stele.client.rpc.TabletCalls;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.time.Clock;

/** The root from ZooKeeper, the metadata table from its server. Thread-safe. */
public final class RemoteMetadata implements MetadataSource {
  private final Coordination coordination;
  private final TabletCalls tablets;
  private final Clock clock;

  public RemoteMetadata(Coordination coordination, TabletCalls tablets, Clock clock) {
    this.coordination = coordination;
    this.tablets = tablets;
    this.clock = clock;
  }

  @Override
  public TabletRow root(CallLimits limits) throws InterruptedException {
    String zooKeeper = "ZooKeeper " + coordination.connectString();
    long left = limits.deadlineNanos() - clock.nanos();
    if (left <= 0) {
      throw AttemptException.notSent(zooKeeper, "no time left to read the root", null);
    }
    try {
      return TabletRow.ofRoot(coordination.readRoot(Duration.ofNanos(left)).value().columns());
    } catch (CoordinationException e) {
      if (e.reason() == CoordinationException.Reason.INTERRUPTED) {
        Thread.interrupted();
        throw new InterruptedException("interrupted reading the root");
      }
      throw AttemptException.notSent(zooKeeper, String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public Row lookup(String address, Bytes row, CallLimits limits) throws InterruptedException {
    LookupAnswer answer = tablets.lookup(address, MetadataSchema.TABLE_ID, row, List.of(), limits);
    return answer.more()
        ? new Row(row, scan(address, Range.row(row), List.of(), 1, limits))
        : new Row(row, answer.cells());
  }

  @Override
  public List<Cell> scan(
      String address, Range range, List<Column> columns, int maxRows, CallLimits limits)
      throws InterruptedException {
    List<Cell> cells = new ArrayList<>();
    Bytes position = null;
    Long readSequence = null;
    while (true) {
      ScanQuery query =
          new ScanQuery(
              MetadataSchema.TABLE_ID,
              range,
              columns,
              maxRows,
              0,
              0,
              false,
              position,
              readSequence);
      ScanAnswer answer = tablets.scan(address, query, limits);
      if (answer.viewChanged()) {
        cells.clear();
        position = null;
        readSequence = null;
        continue;
      }
      cells.addAll(answer.cells());
      if (answer.atEnd() || (!answer.rowContinues() && !cells.isEmpty())) {
        return cells;
      }
      if (answer.rowContinues() && dropLastRow(cells)) {
        return cells;
      }
      position = requirePosition(address, answer.position());
      readSequence = answer.rowContinues() ? answer.readSequence() : null;
    }
  }

  /** Drops the last row, which is not whole, if another is before it. */
  private static boolean dropLastRow(List<Cell> cells) {
    Bytes last = cells.isEmpty() ? Bytes.EMPTY : cells.get(cells.size() - 1).row();
    if (cells.isEmpty() || cells.get(0).row().equals(last)) {
      return false;
    }
    cells.removeIf(cell -> cell.row().equals(last));
    return true;
  }

  private static Bytes requirePosition(String address, @Nullable Bytes position) {
    if (position == null) {
      throw AttemptException.lost(address, "a scan is not at its end and has no position", null);
    }
    return position;
  }
}
