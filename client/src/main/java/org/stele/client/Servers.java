package org.stele.client;

import java.util.List;
import java.util.Map;
import org.stele.core.data.Bytes;

/** The servers of an instance, and what each says about itself. Thread-safe; all calls wait. */
public final class Servers {
  private final ClientCore core;

  Servers(ClientCore core) {
    this.core = core;
  }

  /** The servers that hold their place in ZooKeeper, by session. */
  public List<ServerInfo> list() {
    return core.servers();
  }

  /**
   * @param address {@code host:port}, as {@link #list} has it
   */
  public ServerStatus status(String address) {
    return core.serverStatus(address);
  }

  /** The effective settings of a server, secrets masked. */
  public Map<String, String> settings(String address) {
    return core.serverSettings(address);
  }

  /**
   * Does nothing on a server: measures the way there and back.
   *
   * @return {@code replySize} bytes
   */
  public Bytes ping(String address, Bytes payload, int replySize) {
    return core.ping(address, payload, replySize);
  }
}
