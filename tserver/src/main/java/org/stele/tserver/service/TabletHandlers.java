package org.stele.tserver.service;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.LookupRequest;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.ScanRequest;
import org.stele.core.thrift.ScanResult;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteRequest;
import org.stele.core.thrift.WriteResult;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;
import org.stele.tserver.lookup.LookupAnswer;
import org.stele.tserver.lookup.LookupQuery;
import org.stele.tserver.lookup.LookupStage;
import org.stele.tserver.recovery.OwnedTablets;
import org.stele.tserver.scan.ScanAnswer;
import org.stele.tserver.scan.ScanQuery;
import org.stele.tserver.scan.ScanStage;
import org.stele.tserver.write.WriteBatch;
import org.stele.tserver.write.WriteFailure;
import org.stele.tserver.write.WriteStage;

/**
 * Reads and writes of tablets. A lookup begins on the selector thread and goes to a worker if a
 * block is not in the cache; a scan runs on a worker; a write is handed to the log on the selector
 * thread and answered by the log's.
 */
final class TabletHandlers {
  private static final String SERVICE = "TabletService";

  private final LookupStage lookups;
  private final ScanStage scans;
  private final WriteStage writes;
  private final OwnedTablets owned;

  TabletHandlers(LookupStage lookups, ScanStage scans, WriteStage writes, OwnedTablets owned) {
    this.lookups = lookups;
    this.scans = scans;
    this.writes = writes;
    this.owned = owned;
  }

  void register(Methods methods) {
    methods
        .add(
            SERVICE,
            "lookup",
            Execution.INLINE,
            TabletHandlers::isOfMetadata,
            TabletService.lookup_args::new,
            this::lookup)
        .add(
            SERVICE,
            "scan",
            Execution.WORKER,
            TabletHandlers::isOfMetadata,
            TabletService.scan_args::new,
            this::scan)
        .add(SERVICE, "write", Execution.INLINE, false, TabletService.write_args::new, this::write);
  }

  private static boolean isOfMetadata(TabletService.lookup_args arguments) {
    LookupRequest request = arguments.getRequest();
    return request != null && MetadataSchema.TABLE_ID.equals(request.getTableId());
  }

  private static boolean isOfMetadata(TabletService.scan_args arguments) {
    ScanRequest request = arguments.getRequest();
    return request != null && MetadataSchema.TABLE_ID.equals(request.getTableId());
  }

  private void lookup(TabletService.lookup_args arguments, Call call) {
    LookupRequest request = Requests.required(arguments.getRequest(), "request");
    String tableId = Requests.required(request.getTableId(), "tableId");
    ByteBuffer row = Requests.required(request.bufferForRow(), "row");
    LookupQuery query =
        new LookupQuery(
            tableId,
            row.array(),
            row.arrayOffset() + row.position(),
            row.remaining(),
            Requests.columns(request.getColumns()),
            request.isPlain(),
            Requests.limit(request.getMaxBytes(), "maxBytes"));
    LookupAnswer answer;
    try {
      answer = lookups.lookup(query);
    } catch (SteleException e) {
      throw orWhyNotOpen(e, tableId, row);
    }
    LookupResult result = new LookupResult();
    if (request.isPlain()) {
      result.setCells(Replies.plain(answer.cells()));
    } else {
      result.setPacked(Replies.packed(answer.cells()));
    }
    if (answer.more()) {
      result.setMore(true);
      result.setPosition(wrapped(answer.position()));
    }
    result.setReadSequence(answer.readSequence());
    TabletService.lookup_result reply = new TabletService.lookup_result();
    reply.setSuccess(result);
    call.reply(reply);
  }

  private void scan(TabletService.scan_args arguments, Call call) {
    ScanRequest request = Requests.required(arguments.getRequest(), "request");
    String tableId = Requests.required(request.getTableId(), "tableId");
    Range range = Requests.range(Requests.required(request.getRange(), "range"));
    ScanQuery query =
        new ScanQuery(
            tableId,
            range.lowerKey(),
            range.upperKey(),
            Requests.columns(request.getColumns()),
            Requests.limit(request.getMaxRows(), "maxRows"),
            Requests.limit(request.getMaxCells(), "maxCells"),
            request.isPlain(),
            Requests.limit(request.getMaxBytes(), "maxBytes"),
            Requests.arrayOrNull(request.bufferForPosition()),
            request.getReadSequence(),
            request.isBypassCache(),
            call.caller().deadlineNanos());
    ScanAnswer answer;
    try {
      answer = scans.scan(query, call::othersWait);
    } catch (SteleException e) {
      Bytes start = range.startRow();
      throw orWhyNotOpen(e, tableId, (start == null ? Bytes.EMPTY : start).toByteBuffer());
    }
    TabletService.scan_result reply = new TabletService.scan_result();
    reply.setSuccess(result(answer, request.isPlain()));
    call.reply(reply);
  }

  private static ScanResult result(ScanAnswer answer, boolean plain) {
    ScanResult result = new ScanResult();
    if (plain) {
      result.setCells(Replies.plain(answer.cells()));
    } else {
      result.setPacked(Replies.packed(answer.cells()));
    }
    result.setExtent(
        Replies.extent(
            answer.extent().tableId(), answer.extent().previousEndRow(), answer.extent().endRow()));
    result.setAtEnd(answer.atEnd());
    result.setPosition(wrapped(answer.position()));
    if (answer.rowContinues()) {
      result.setRowContinues(true);
    }
    if (answer.viewChanged()) {
      result.setViewChanged(true);
    }
    result.setReadSequence(answer.readSequence());
    return result;
  }

  @SuppressWarnings("NullAway") // Thrift's optional fields are null when absent
  private static ByteBuffer wrapped(byte @Nullable [] array) {
    return array == null ? null : ByteBuffer.wrap(array);
  }

  private void write(TabletService.write_args arguments, Call call) {
    WriteRequest request = Requests.required(arguments.getRequest(), "request");
    String tableId = Requests.required(request.getTableId(), "tableId");
    if (tableId.equals(MetadataSchema.TABLE_ID)) {
      throw new SteleException(
          ErrorCode.DENIED, "the metadata table is changed by the servers' batches only");
    }
    List<Mutation> mutations = Requests.mutations(request);
    writes.write(
        new WriteBatch(
            tableId,
            mutations,
            Requests.durability(request.getDurability()),
            call.caller().deadlineNanos(),
            false,
            call.caller().writer()),
        failures -> {
          WriteResult result = new WriteResult();
          if (!failures.isEmpty()) {
            result.setFailures(Replies.failures(orWhyNotOpen(failures, tableId, mutations)));
          }
          TabletService.write_result reply = new TabletService.write_result();
          reply.setSuccess(result);
          call.reply(reply);
        });
  }

  private List<WriteFailure> orWhyNotOpen(
      List<WriteFailure> failures, String tableId, List<Mutation> mutations) {
    return failures.stream()
        .map(
            failure ->
                new WriteFailure(
                    failure.index(),
                    orWhyNotOpen(
                        failure.error(),
                        tableId,
                        mutations.get(failure.index()).row().toByteBuffer())))
        .toList();
  }

  /** NOT_SERVING has the client look elsewhere; a tablet that is damaged here is nowhere else. */
  private SteleException orWhyNotOpen(SteleException error, String tableId, ByteBuffer row) {
    if (error.code() != ErrorCode.NOT_SERVING) {
      return error;
    }
    SteleException reason = owned.failureAt(tableId, Bytes.of(row));
    return reason != null && reason.code() == ErrorCode.CORRUPT ? reason : error;
  }
}
