package org.stele.tserver.service;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.Extent;
import org.stele.core.thrift.MutationFailure;
import org.stele.core.thrift.SteleError;
import org.stele.core.wire.PackedCells;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.core.wire.SteleErrors;
import org.stele.tserver.write.WriteFailure;

/** From our types to Thrift's. Buffers are views of the stages' answers: they are sent at once. */
final class Replies {
  private Replies() {}

  private static ByteBuffer buffer(Bytes bytes) {
    return ByteBuffer.wrap(bytes.unsafeArray());
  }

  static ByteBuffer packed(PackedCellsWriter cells) {
    return ByteBuffer.wrap(cells.array(), 0, cells.length());
  }

  static List<org.stele.core.thrift.Cell> plain(PackedCellsWriter packed) {
    List<org.stele.core.thrift.Cell> cells = new ArrayList<>();
    for (Cell cell : PackedCells.decode(packed.array(), 0, packed.length())) {
      org.stele.core.thrift.Cell plain = new org.stele.core.thrift.Cell();
      plain.setRow(buffer(cell.row()));
      plain.setFamily(buffer(cell.family()));
      plain.setQualifier(buffer(cell.qualifier()));
      plain.setVisibility(buffer(cell.visibility()));
      plain.setTimestamp(cell.timestamp());
      plain.setValue(buffer(cell.value()));
      cells.add(plain);
    }
    return cells;
  }

  static Extent extent(String tableId, @Nullable Bytes previousEndRow, @Nullable Bytes endRow) {
    Extent extent = new Extent();
    extent.setTableId(tableId);
    if (previousEndRow != null) {
      extent.setPreviousEndRow(buffer(previousEndRow));
    }
    if (endRow != null) {
      extent.setEndRow(buffer(endRow));
    }
    return extent;
  }

  static List<MutationFailure> failures(List<WriteFailure> failures) {
    List<MutationFailure> plain = new ArrayList<>(failures.size());
    for (WriteFailure failure : failures) {
      plain.add(new MutationFailure(failure.index(), error(failure.error())));
    }
    return plain;
  }

  static SteleError error(SteleException error) {
    return SteleErrors.toThrift(error);
  }
}
