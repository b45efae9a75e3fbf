package org.stele.client.rpc;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Durability;
import org.stele.core.data.Extent;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Update;
import org.stele.core.thrift.SteleError;
import org.stele.core.thrift.UpdateType;
import org.stele.core.wire.PackedCells;
import org.stele.core.wire.SteleErrors;

/** The words of the data model in those of the IDL, and back. */
final class Wire {
  private Wire() {}

  /** Throws what the server answered, if it is an error. */
  static void check(String server, @Nullable SteleError error) {
    if (error != null) {
      throw AttemptException.replied(server, SteleErrors.fromThrift(error));
    }
  }

  static ByteBuffer buffer(Bytes bytes) {
    return ByteBuffer.wrap(bytes.unsafeArray());
  }

  static List<org.stele.core.thrift.Column> columns(List<Column> columns) {
    List<org.stele.core.thrift.Column> all = new ArrayList<>(columns.size());
    for (Column column : columns) {
      org.stele.core.thrift.Column one = new org.stele.core.thrift.Column(buffer(column.family()));
      Bytes qualifier = column.qualifier();
      if (qualifier != null) {
        one.setQualifier(buffer(qualifier));
      }
      all.add(one);
    }
    return all;
  }

  static org.stele.core.thrift.Range range(Range range) {
    org.stele.core.thrift.Range wire = new org.stele.core.thrift.Range();
    Bound start = range.start();
    if (start != null) {
      wire.setStart(key(start));
      wire.setStartInclusive(start.inclusive());
    }
    Bound stop = range.stop();
    if (stop != null) {
      wire.setStop(key(stop));
      wire.setStopInclusive(stop.inclusive());
    }
    return wire;
  }

  private static org.stele.core.thrift.Key key(Bound bound) {
    List<Bytes> parts = bound.parts();
    org.stele.core.thrift.Key key = new org.stele.core.thrift.Key(buffer(parts.get(0)));
    if (parts.size() > 1) {
      key.setFamily(buffer(parts.get(1)));
    }
    if (parts.size() > 2) {
      key.setQualifier(buffer(parts.get(2)));
    }
    if (parts.size() > 3) {
      key.setVisibility(buffer(parts.get(3)));
    }
    Long timestamp = bound.timestamp();
    if (timestamp != null) {
      key.setTimestamp(timestamp);
    }
    return key;
  }

  static Extent extent(org.stele.core.thrift.Extent extent) {
    return new Extent(
        extent.getTableId(),
        extent.isSetPreviousEndRow() ? Bytes.wrap(extent.getPreviousEndRow()) : null,
        extent.isSetEndRow() ? Bytes.wrap(extent.getEndRow()) : null);
  }

  /** Cells that came packed; they lie in the reply, of which nothing else is kept. */
  static List<Cell> cells(@Nullable ByteBuffer packed) {
    return packed == null || !packed.hasRemaining()
        ? List.of()
        : PackedCells.decode(
            packed.array(), packed.arrayOffset() + packed.position(), packed.remaining());
  }

  static org.stele.core.thrift.Durability durability(Durability durability) {
    return switch (durability) {
      case NONE -> org.stele.core.thrift.Durability.NONE;
      case LOG -> org.stele.core.thrift.Durability.LOG;
      case FLUSH -> org.stele.core.thrift.Durability.FLUSH;
      case SYNC -> org.stele.core.thrift.Durability.SYNC;
    };
  }

  /** For the metadata's batches, which are not packed. */
  static org.stele.core.thrift.Mutation mutation(Mutation mutation) {
    List<org.stele.core.thrift.Update> updates = new ArrayList<>(mutation.updates().size());
    for (Update update : mutation.updates()) {
      org.stele.core.thrift.Update one =
          new org.stele.core.thrift.Update(UpdateType.findByValue(update.type().code()))
              .setFamily(buffer(update.family()))
              .setQualifier(buffer(update.qualifier()))
              .setVisibility(buffer(update.visibility()))
              .setValue(buffer(update.value()));
      Long timestamp = update.timestamp();
      if (timestamp != null) {
        one.setTimestamp(timestamp);
      }
      updates.add(one);
    }
    return new org.stele.core.thrift.Mutation(buffer(mutation.row()), updates);
  }
}
