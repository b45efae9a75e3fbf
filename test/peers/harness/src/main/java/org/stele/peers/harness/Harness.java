package org.stele.peers.harness;

import java.util.List;

/** Runs one scenario against one product. */
public final class Harness {
  private Harness() {}

  public static void run(
      String system, Store store, Servers servers, String scenario, Options options)
      throws Exception {
    Measurements measurements = new Measurements(system, servers);
    LookupScenarios lookups = new LookupScenarios(store, options, measurements);
    WriteScenarios writes = new WriteScenarios(store, options, measurements);
    ConditionalScenarios conditional = new ConditionalScenarios(store, options, measurements);
    switch (scenario) {
      case "load" -> lookups.load();
      case "lookups" -> lookups.lookups();
      case "overload" -> lookups.overload();
      case "bulkload" -> writes.bulkLoad();
      case "commits" -> writes.commits();
      case "groupcommit" -> writes.groupCommit();
      case "durability" -> writes.durability();
      case "conditional" -> conditional.single();
      case "conditional-batches" -> conditional.batches();
      case "recovery" -> new RecoveryScenario(store, servers, options, measurements).run();
      case "memory" -> memory(servers, measurements);
      default -> throw new IllegalArgumentException("unknown scenario " + scenario);
    }
  }

  private static void memory(Servers servers, Measurements measurements) throws Exception {
    for (Servers.Named server : servers.all()) {
      ProcessUsage usage = ProcessUsage.of(List.of(server.pid()));
      measurements
          .line("memory")
          .put("process", server.role())
          .put("resident_mb", usage.residentMegabytes())
          .put("threads", usage.threads())
          .print();
    }
  }
}
