package org.stele.peers.harness;

import java.io.IOException;
import java.util.List;

/** Measures single steps and closed loops, and prints a {@link JsonLine} about each. */
final class Measurements {

  /** A step that returns how many things it handled. */
  interface Step {
    long run() throws Exception;
  }

  private final String system;
  private final Servers servers;

  Measurements(String system, Servers servers) {
    this.system = system;
    this.servers = servers;
  }

  JsonLine line(String scenario) {
    return new JsonLine().put("system", system).put("scenario", scenario);
  }

  /** Runs one step once. */
  long step(String scenario, String name, Step step) throws Exception {
    List<Long> serving = servers.serving();
    ProcessUsage serverBefore = ProcessUsage.of(serving);
    ProcessUsage clientBefore = ProcessUsage.ofThisProcess();
    long flushesBefore = Machine.diskFlushes();
    long start = System.nanoTime();
    long count = step.run();
    double seconds = (System.nanoTime() - start) / 1e9;
    ProcessUsage server = ProcessUsage.of(serving).since(serverBefore);
    ProcessUsage client = ProcessUsage.ofThisProcess().since(clientBefore);
    line(scenario)
        .put("step", name)
        .put("count", count)
        .put("seconds", seconds, 3)
        .put("per_s", count / seconds, 0)
        .put("server_cpu_s", server.seconds(), 2)
        .put("client_cpu_s", client.seconds(), 2)
        .put("server_written_mb", server.writtenMegabytes(), 1)
        .put("disk_flushes", Machine.diskFlushes() - flushesBefore)
        .print();
    return count;
  }

  /**
   * Runs a closed loop and reports the measured part of it. Times and context switches are those of
   * one operation, in microseconds of processor time where nothing else is said.
   */
  void level(String scenario, String kind, ClosedLoop loop) throws Exception {
    double speed = Machine.speed();
    Window window = new Window(servers.serving());
    ClosedLoop.Result result = loop.run(window);
    Histogram latencies = result.latencies();
    double operations = Math.max(1, latencies.count());
    ProcessUsage server = window.server;
    ProcessUsage client = window.client;
    double seconds = window.seconds;
    long[] perThread = result.sortedOperationsOfThreads();
    line(scenario)
        .put("kind", kind)
        .put("threads", loop.threads())
        .put("ops_per_s", latencies.count() / seconds, 0)
        .put("units_per_s", result.units() / seconds, 0)
        .put("avg_ms", latencies.meanMillis(), 4)
        .put("p50_ms", latencies.quantileMillis(0.5), 4)
        .put("p99_ms", latencies.quantileMillis(0.99), 4)
        .put("p999_ms", latencies.quantileMillis(0.999), 4)
        .put("max_ms", latencies.maxMillis(), 3)
        .put("server_user_us", server.userSeconds() * 1e6 / operations, 2)
        .put("server_sys_us", server.systemSeconds() * 1e6 / operations, 2)
        .put("ctx_switches", server.contextSwitches() / operations, 3)
        .put("client_us", client.seconds() * 1e6 / operations, 2)
        .put("server_cores", server.seconds() / seconds, 2)
        .put("client_cores", client.seconds() / seconds, 2)
        .put("other_cores", (window.busy - server.seconds() - client.seconds()) / seconds, 2)
        .put("server_write_calls", server.writeCalls() / operations, 2)
        .put("disk_flushes", window.flushes / operations, 3)
        .put("thread_ops_min", perThread[0])
        .put("thread_ops_median", perThread[perThread.length / 2])
        .put("thread_ops_max", perThread[perThread.length - 1])
        .put("failures", result.failures())
        .put("server_resident_mb", server.residentMegabytes())
        .put("server_threads", server.threads())
        .put("machine_speed", speed, 0)
        .print();
  }

  /** The counters of the processes and the machine between begin and end of measuring. */
  private static final class Window implements ClosedLoop.Observer {
    private final List<Long> serving;
    private ProcessUsage serverAtBegin;
    private ProcessUsage clientAtBegin;
    private double busyAtBegin;
    private long flushesAtBegin;
    private long begin;

    private ProcessUsage server;
    private ProcessUsage client;
    private double busy;
    private long flushes;
    private double seconds;

    Window(List<Long> serving) {
      this.serving = serving;
    }

    @Override
    public void begin() throws IOException {
      serverAtBegin = ProcessUsage.of(serving);
      clientAtBegin = ProcessUsage.ofThisProcess();
      busyAtBegin = Machine.busySeconds();
      flushesAtBegin = Machine.diskFlushes();
      begin = System.nanoTime();
    }

    @Override
    public void end() throws IOException {
      seconds = (System.nanoTime() - begin) / 1e9;
      server = ProcessUsage.of(serving).since(serverAtBegin);
      client = ProcessUsage.ofThisProcess().since(clientAtBegin);
      busy = Machine.busySeconds() - busyAtBegin;
      flushes = Machine.diskFlushes() - flushesAtBegin;
    }
  }
}
