package org.stele.tserver.service;

import java.util.concurrent.Executor;
import org.stele.server.rpc.Methods;
import org.stele.tserver.compact.Compactor;
import org.stele.tserver.conditional.ConditionalStage;
import org.stele.tserver.coordinator.Coordinator;
import org.stele.tserver.coordinator.TableTasks;
import org.stele.tserver.flush.Flusher;
import org.stele.tserver.lookup.LookupStage;
import org.stele.tserver.recovery.OwnedTablets;
import org.stele.tserver.recovery.TabletOpener;
import org.stele.tserver.scan.ScanStage;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.write.WriteStage;

/** All methods of the IDL, each with the stage that does it. */
public final class ServerMethods {
  private ServerMethods() {}

  /**
   * The stages that methods call.
   *
   * @param taskExecutor runs what may wait for the metadata; bounded
   */
  public record Stages(
      LookupStage lookups,
      ScanStage scans,
      WriteStage writes,
      ConditionalStage conditional,
      OwnedTablets owned,
      TabletMap tablets,
      TabletOpener opener,
      Flusher flusher,
      Compactor compactor,
      Coordinator coordinator,
      TableTasks tableTasks,
      Executor taskExecutor,
      ServerSelf self) {}

  public static Methods of(Stages stages) {
    Methods methods = new Methods();
    new TabletHandlers(stages.lookups, stages.scans, stages.writes, stages.owned).register(methods);
    new TableHandlers(stages.coordinator, stages.tableTasks, stages.taskExecutor, stages.self)
        .register(methods);
    new ServerHandlers(stages.self).register(methods);
    new MetadataHandlers(stages.conditional).register(methods);
    new AssignmentHandlers(
            stages.opener, stages.owned, stages.tablets, stages.flusher, stages.compactor)
        .register(methods);
    return methods;
  }
}
