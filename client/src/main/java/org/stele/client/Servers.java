package org.stele.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.stele.client.rpc.StatusAnswer;
import org.stele.core.data.Bytes;

/** The servers of an instance, and what each says about itself. Thread-safe; all calls wait. */
public final class Servers {
  private final ClientCore core;

  Servers(ClientCore core) {
    this.core = core;
  }

  /** The servers that hold their place in ZooKeeper, by session. */
  public List<ServerInfo> list() {
    return core.run(
        () -> "listing of the servers",
        false,
        core.deadlineFromNow(),
        attempts -> core.livingServers().read(attempts));
  }

  /**
   * @param address {@code host:port}, as {@link #list} has it
   */
  public ServerStatus status(String address) {
    StatusAnswer status =
        core.runAt(
            address,
            "status",
            core.deadlineFromNow(),
            limits -> core.serverCalls().status(address, limits));
    return new ServerStatus(
        status.instanceId(),
        status.session(),
        status.address(),
        status.version(),
        status.ready(),
        status.notReadyReason(),
        Duration.ofMillis(status.upMillis()),
        status.tablets(),
        status.counters());
  }

  /** The effective settings of a server, secrets masked. */
  public Map<String, String> settings(String address) {
    return core.runAt(
        address,
        "reading of settings",
        core.deadlineFromNow(),
        limits -> core.serverCalls().settings(address, limits));
  }

  /**
   * Does nothing on a server: measures the way there and back.
   *
   * @return {@code replySize} bytes
   */
  public Bytes ping(String address, Bytes payload, int replySize) {
    return core.runAt(
        address,
        "ping",
        core.deadlineFromNow(),
        limits -> core.serverCalls().ping(address, payload, replySize, limits));
  }
}
