package org.stele.tserver.service;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.AssignmentService;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;
import org.stele.tserver.compact.Compactor;
import org.stele.tserver.flush.Flusher;
import org.stele.tserver.recovery.OwnedTablets;
import org.stele.tserver.recovery.TabletOpener;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.tablet.TabletState;

/**
 * The coordinator's commands to this server. None holds a thread while it waits. Of the reserved
 * class.
 */
final class AssignmentHandlers {
  private static final String SERVICE = "AssignmentService";

  private final TabletOpener opener;
  private final OwnedTablets owned;
  private final TabletMap tablets;
  private final Flusher flusher;
  private final Compactor compactor;

  AssignmentHandlers(
      TabletOpener opener,
      OwnedTablets owned,
      TabletMap tablets,
      Flusher flusher,
      Compactor compactor) {
    this.opener = opener;
    this.owned = owned;
    this.tablets = tablets;
    this.flusher = flusher;
    this.compactor = compactor;
  }

  void register(Methods methods) {
    methods
        .add(
            SERVICE,
            "openTablets",
            Execution.INLINE,
            true,
            AssignmentService.openTablets_args::new,
            this::open)
        .add(
            SERVICE,
            "closeTablet",
            Execution.WORKER,
            true,
            AssignmentService.closeTablet_args::new,
            this::close)
        .add(
            SERVICE,
            "flushTablet",
            Execution.INLINE,
            true,
            AssignmentService.flushTablet_args::new,
            this::flush)
        .add(
            SERVICE,
            "compactTablet",
            Execution.INLINE,
            true,
            AssignmentService.compactTablet_args::new,
            this::compact)
        .add(
            SERVICE,
            "tabletStates",
            Execution.INLINE,
            true,
            AssignmentService.tabletStates_args::new,
            this::states);
  }

  private void open(AssignmentService.openTablets_args arguments, Call call) {
    opener.open(Requests.required(arguments.getTabletIds(), "tabletIds"));
    call.reply(new AssignmentService.openTablets_result());
  }

  private void close(AssignmentService.closeTablet_args arguments, Call call) {
    answer(
        opener.close(Requests.required(arguments.getTabletId(), "tabletId"), arguments.isFlush()),
        call,
        () -> call.reply(new AssignmentService.closeTablet_result()));
  }

  private void flush(AssignmentService.flushTablet_args arguments, Call call) {
    Tablet tablet = served(tablet(arguments.getTabletId()));
    answer(
        flusher.flushSoon(tablet),
        call,
        () -> call.reply(new AssignmentService.flushTablet_result()));
  }

  /** All that was written before is in files first, so that one file is left of everything. */
  private void compact(AssignmentService.compactTablet_args arguments, Call call) {
    Tablet tablet = served(tablet(arguments.getTabletId()));
    answer(
        flusher.flushSoon(tablet).thenCompose(flushed -> compactor.compactWhole(tablet)),
        call,
        () -> call.reply(new AssignmentService.compactTablet_result()));
  }

  private void states(AssignmentService.tabletStates_args arguments, Call call) {
    Map<String, String> states = new TreeMap<>();
    owned.statuses().forEach((tabletId, status) -> states.put(tabletId, status.toText()));
    AssignmentService.tabletStates_result result = new AssignmentService.tabletStates_result();
    result.setSuccess(states);
    call.reply(result);
  }

  private Tablet tablet(String tabletId) {
    Tablet tablet = tablets.get(Requests.required(tabletId, "tabletId"));
    if (tablet == null) {
      SteleException reason = owned.failureOf(tabletId);
      if (reason != null && reason.code() == ErrorCode.CORRUPT) {
        throw reason;
      }
      throw new SteleException(ErrorCode.NOT_SERVING, "tablet " + tabletId + " is not open here");
    }
    return tablet;
  }

  /** What is not served cannot be worked on: the answer is its reason, not that it was done. */
  static Tablet served(Tablet tablet) {
    if (tablet.state() == TabletState.FAILED) {
      throw new SteleException(ErrorCode.OFFLINE, tablet + " has failed: " + tablet.failure());
    }
    if (!tablet.servesReads()) {
      throw new SteleException(ErrorCode.NOT_SERVING, tablet + " is not open here");
    }
    return tablet;
  }

  private static void answer(CompletableFuture<Void> done, Call call, Runnable reply) {
    var unused =
        done.whenComplete(
            (nothing, failure) -> {
              if (failure == null) {
                reply.run();
              } else {
                call.fail(Failures.typed(failure));
              }
            });
  }
}
