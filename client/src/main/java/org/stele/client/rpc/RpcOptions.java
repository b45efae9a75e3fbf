package org.stele.client.rpc;

import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.stele.core.net.TlsContext;

/**
 * How connections are made and used.
 *
 * @param connectTimeout for name resolution, connecting and the first exchange together
 * @param connectionsPerServer shared by all callers
 * @param maxReplyBytes a longer reply breaks its connection
 * @param tenant empty: none
 * @param clientId random, the same for the whole life of the client
 * @param tls null: connections are not encrypted
 * @param localAddress that connections come from; null: as the system chooses
 */
public record RpcOptions(
    Duration connectTimeout,
    int connectionsPerServer,
    int maxReplyBytes,
    String tenant,
    long clientId,
    @Nullable TlsContext tls,
    @Nullable InetAddress localAddress) {

  public RpcOptions(
      Duration connectTimeout,
      int connectionsPerServer,
      int maxReplyBytes,
      String tenant,
      long clientId,
      @Nullable TlsContext tls) {
    this(connectTimeout, connectionsPerServer, maxReplyBytes, tenant, clientId, tls, null);
  }

  /** Without encryption. */
  public RpcOptions(
      Duration connectTimeout,
      int connectionsPerServer,
      int maxReplyBytes,
      String tenant,
      long clientId) {
    this(connectTimeout, connectionsPerServer, maxReplyBytes, tenant, clientId, null);
  }

  /** The same, with connections from an address of this machine. */
  public RpcOptions withLocalAddress(InetAddress address) {
    return new RpcOptions(
        connectTimeout, connectionsPerServer, maxReplyBytes, tenant, clientId, tls, address);
  }
}
