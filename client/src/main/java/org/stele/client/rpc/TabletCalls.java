package org.stele.client.rpc;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Durability;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.thrift.MutationFailure;
import org.stele.core.thrift.ScanRequest;
import org.stele.core.thrift.ScanResult;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteRequest;
import org.stele.core.thrift.WriteResult;
import org.stele.core.wire.PackedMutations;
import org.stele.core.wire.SteleErrors;

/**
 * Reads and writes of tablets, one attempt each. Thread-safe. What waits throws {@link
 * AttemptException}, and {@link InterruptedException} if the thread was interrupted, after which
 * the call may have been done.
 */
public final class TabletCalls {
  private static final Method<LookupQuery, LookupAnswer> LOOKUP =
      new Method<>("lookup", LookupCodec::encode, LookupCodec::decode);
  private static final Method<TabletService.scan_args, ScanAnswer> SCAN =
      Method.ofStructures("scan", TabletService.scan_result::new, TabletCalls::answer);
  private static final Method<TabletService.write_args, WriteAnswer> WRITE =
      Method.ofStructures("write", TabletService.write_result::new, TabletCalls::answer);

  private final RpcClient rpc;

  public TabletCalls(RpcClient rpc) {
    this.rpc = rpc;
  }

  // ---- Lookup

  /**
   * @param columns none: all
   */
  public LookupAnswer lookup(
      String server, String tableId, Bytes row, List<Column> columns, CallLimits limits)
      throws InterruptedException {
    return rpc.call(server, LOOKUP, new LookupQuery(tableId, row, columns), limits);
  }

  public void lookupAsync(
      String server,
      String tableId,
      Bytes row,
      List<Column> columns,
      CallLimits limits,
      Answer<LookupAnswer> answer) {
    rpc.callAsync(server, LOOKUP, new LookupQuery(tableId, row, columns), limits, answer);
  }

  // ---- Scan

  public ScanAnswer scan(String server, ScanQuery query, CallLimits limits)
      throws InterruptedException {
    return rpc.call(server, SCAN, new TabletService.scan_args(request(query)), limits);
  }

  private static ScanRequest request(ScanQuery query) {
    ScanRequest request = new ScanRequest(query.tableId(), Wire.range(query.range()));
    if (!query.columns().isEmpty()) {
      request.setColumns(Wire.columns(query.columns()));
    }
    if (query.maxRows() > 0) {
      request.setMaxRows(query.maxRows());
    }
    if (query.maxCells() > 0) {
      request.setMaxCells(query.maxCells());
    }
    if (query.maxBytes() > 0) {
      request.setMaxBytes(query.maxBytes());
    }
    if (query.bypassCache()) {
      request.setBypassCache(true);
    }
    Bytes position = query.position();
    if (position != null) {
      request.setPosition(Wire.buffer(position));
    }
    Long readSequence = query.readSequence();
    if (readSequence != null) {
      request.setReadSequence(readSequence);
    }
    return request;
  }

  private static ScanAnswer answer(String server, TabletService.scan_result result) {
    Wire.check(server, result.getError());
    ScanResult success = present(result.getSuccess());
    return new ScanAnswer(
        Wire.cells(success.bufferForPacked()),
        Wire.extent(success.getExtent()),
        success.isAtEnd(),
        success.isSetPosition() ? Bytes.wrap(success.getPosition()) : null,
        success.isRowContinues(),
        success.isSetReadSequence() ? (Long) success.getReadSequence() : null,
        success.isViewChanged());
  }

  // ---- Write

  public WriteAnswer write(String server, WriteQuery query, CallLimits limits)
      throws InterruptedException {
    return rpc.call(server, WRITE, writeArguments(query), limits);
  }

  public void writeAsync(
      String server, WriteQuery query, CallLimits limits, Answer<WriteAnswer> answer) {
    rpc.callAsync(server, WRITE, writeArguments(query), limits, answer);
  }

  private static TabletService.write_args writeArguments(WriteQuery query) {
    WriteRequest request = new WriteRequest(query.tableId());
    request.setPacked(PackedMutations.encode(query.mutations()));
    Durability durability = query.durability();
    if (durability != null) {
      request.setDurability(Wire.durability(durability));
    }
    return new TabletService.write_args(request);
  }

  private static WriteAnswer answer(String server, TabletService.write_result result) {
    Wire.check(server, result.getError());
    WriteResult success = present(result.getSuccess());
    if (!success.isSetFailures()) {
      return new WriteAnswer(List.of());
    }
    List<WriteAnswer.Failure> failures = new ArrayList<>(success.getFailuresSize());
    for (MutationFailure failure : success.getFailures()) {
      failures.add(
          new WriteAnswer.Failure(failure.getIndex(), SteleErrors.fromThrift(failure.getError())));
    }
    return new WriteAnswer(failures);
  }

  // ---- Insides

  static <T> T present(@Nullable T success) {
    if (success == null) {
      throw new MalformedBytesException("a reply without result and error");
    }
    return success;
  }
}
