package org.stele.client.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.thrift.AssignmentService;
import org.stele.core.thrift.Condition;
import org.stele.core.thrift.MetadataBatch;
import org.stele.core.thrift.MetadataService;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.ServerStatus;

/**
 * Questions to one server about itself, and the calls between servers; one attempt each.
 * Thread-safe; all wait, and throw as {@link TabletCalls} do.
 */
public final class ServerCalls {
  private static final Method<ServerService.ping_args, Bytes> PING =
      Method.ofStructures("ping", ServerService.ping_result::new, ServerCalls::pinged);
  private static final Method<ServerService.status_args, ServerService.status_result> STATUS =
      Method.ofStructures("status", ServerService.status_result::new);
  private static final Method<ServerService.settings_args, ServerService.settings_result> SETTINGS =
      Method.ofStructures("settings", ServerService.settings_result::new);
  private static final Method<
          MetadataService.applyMetadata_args, MetadataService.applyMetadata_result>
      APPLY_METADATA =
          Method.ofStructures("applyMetadata", MetadataService.applyMetadata_result::new);
  private static final Method<
          AssignmentService.openTablets_args, AssignmentService.openTablets_result>
      OPEN = Method.ofStructures("openTablets", AssignmentService.openTablets_result::new);
  private static final Method<
          AssignmentService.closeTablet_args, AssignmentService.closeTablet_result>
      CLOSE = Method.ofStructures("closeTablet", AssignmentService.closeTablet_result::new);
  private static final Method<
          AssignmentService.flushTablet_args, AssignmentService.flushTablet_result>
      FLUSH = Method.ofStructures("flushTablet", AssignmentService.flushTablet_result::new);
  private static final Method<
          AssignmentService.compactTablet_args, AssignmentService.compactTablet_result>
      COMPACT = Method.ofStructures("compactTablet", AssignmentService.compactTablet_result::new);
  private static final Method<
          AssignmentService.tabletStates_args, AssignmentService.tabletStates_result>
      STATES = Method.ofStructures("tabletStates", AssignmentService.tabletStates_result::new);

  private final RpcClient rpc;

  public ServerCalls(RpcClient rpc) {
    this.rpc = rpc;
  }

  public Bytes ping(String server, Bytes payload, int replySize, CallLimits limits)
      throws InterruptedException {
    return rpc.call(
        server, PING, new ServerService.ping_args(Wire.buffer(payload), replySize), limits);
  }

  public void pingAsync(
      String server, Bytes payload, int replySize, CallLimits limits, Answer<Bytes> answer) {
    rpc.callAsync(
        server, PING, new ServerService.ping_args(Wire.buffer(payload), replySize), limits, answer);
  }

  private static Bytes pinged(String server, ServerService.ping_result result) {
    Wire.check(server, result.getError());
    return Bytes.of(TabletCalls.present(result.bufferForSuccess()));
  }

  public StatusAnswer status(String server, CallLimits limits) throws InterruptedException {
    ServerService.status_result result =
        rpc.call(server, STATUS, new ServerService.status_args(), limits);
    Wire.check(server, result.getError());
    ServerStatus status = TabletCalls.present(result.getSuccess());
    return new StatusAnswer(
        status.getInstanceId(),
        status.getSession(),
        status.getAddress(),
        status.getVersion(),
        status.isReady(),
        status.getNotReadyReason(),
        status.getUpMillis(),
        status.getTablets(),
        status.getCounters());
  }

  public Map<String, String> settings(String server, CallLimits limits)
      throws InterruptedException {
    ServerService.settings_result result =
        rpc.call(server, SETTINGS, new ServerService.settings_args(), limits);
    Wire.check(server, result.getError());
    return TabletCalls.present(result.getSuccess());
  }

  public void applyMetadata(
      String server,
      String batchId,
      List<ColumnValue> conditions,
      List<Mutation> mutations,
      CallLimits limits)
      throws InterruptedException {
    List<Condition> wireConditions = new ArrayList<>(conditions.size());
    for (ColumnValue condition : conditions) {
      Condition one =
          new Condition(
              Wire.buffer(condition.row()),
              Wire.buffer(condition.family()),
              Wire.buffer(condition.qualifier()));
      Bytes value = condition.value();
      if (value != null) {
        one.setValue(Wire.buffer(value));
      }
      wireConditions.add(one);
    }
    MetadataBatch batch =
        new MetadataBatch(batchId, wireConditions, mutations.stream().map(Wire::mutation).toList());
    Wire.check(
        server,
        rpc.call(server, APPLY_METADATA, new MetadataService.applyMetadata_args(batch), limits)
            .getError());
  }

  public void openTablets(String server, List<String> tabletIds, CallLimits limits)
      throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, OPEN, new AssignmentService.openTablets_args(tabletIds), limits)
            .getError());
  }

  public void closeTablet(String server, String tabletId, boolean flush, CallLimits limits)
      throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, CLOSE, new AssignmentService.closeTablet_args(tabletId, flush), limits)
            .getError());
  }

  public void flushTablet(String server, String tabletId, CallLimits limits)
      throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, FLUSH, new AssignmentService.flushTablet_args(tabletId), limits)
            .getError());
  }

  public void compactTablet(String server, String tabletId, CallLimits limits)
      throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, COMPACT, new AssignmentService.compactTablet_args(tabletId), limits)
            .getError());
  }

  public Map<String, String> tabletStates(String server, CallLimits limits)
      throws InterruptedException {
    AssignmentService.tabletStates_result result =
        rpc.call(server, STATES, new AssignmentService.tabletStates_args(), limits);
    Wire.check(server, result.getError());
    return TabletCalls.present(result.getSuccess());
  }

  /**
   * A column and the value it must have.
   *
   * @param value null: the column must not be there
   */
  public record ColumnValue(Bytes row, Bytes family, Bytes qualifier, @Nullable Bytes value) {}
}
