package org.stele.client;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.RetryOptions;
import org.stele.core.net.TlsOptions;

/**
 * How a {@link SteleClient} behaves. Immutable; every {@code with…} method returns a changed copy
 * and refuses a value that makes no sense with {@link IllegalArgumentException}.
 */
public final class ClientOptions {
  private static final Duration MAX_DEADLINE = Duration.ofDays(1);
  private static final int MAX_TENANT_LENGTH = 255;

  private final Duration deadline;
  private final Duration attemptTimeout;
  private final Duration connectTimeout;
  private final Duration sessionTimeout;
  private final RetryOptions retry;
  private final int connectionsPerServer;
  private final int maxReplyBytes;
  private final String tenant;
  private final @Nullable TlsOptions tls;

  private ClientOptions(
      Duration deadline,
      Duration attemptTimeout,
      Duration connectTimeout,
      Duration sessionTimeout,
      RetryOptions retry,
      int connectionsPerServer,
      int maxReplyBytes,
      String tenant,
      @Nullable TlsOptions tls) {
    this.deadline = deadline;
    this.attemptTimeout = attemptTimeout;
    this.connectTimeout = connectTimeout;
    this.sessionTimeout = sessionTimeout;
    this.retry = retry;
    this.connectionsPerServer = connectionsPerServer;
    this.maxReplyBytes = maxReplyBytes;
    this.tenant = tenant;
    this.tls = tls;
  }

  /** Deadline 60 s, one attempt 10 s, two connections per server, no tenant, no encryption. */
  public static ClientOptions defaults() {
    return new ClientOptions(
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ofSeconds(3),
        Duration.ofSeconds(30),
        RetryOptions.defaults(),
        2,
        256 << 20,
        "",
        null);
  }

  /** The longest an operation may take, all its attempts together; 1 ms to 1 day. */
  public ClientOptions withDeadline(Duration newDeadline) {
    return new ClientOptions(
        positive("deadline", newDeadline),
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        retry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        tls);
  }

  /**
   * The longest one attempt of a lookup, write or scan batch waits for its server before the tablet
   * is looked for elsewhere; 1 ms to 1 day. Table operations have the whole deadline for one
   * attempt.
   */
  public ClientOptions withAttemptTimeout(Duration newAttemptTimeout) {
    return new ClientOptions(
        deadline,
        positive("attempt timeout", newAttemptTimeout),
        connectTimeout,
        sessionTimeout,
        retry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        tls);
  }

  /** The longest that setting up a connection may take; 1 ms to 1 day. */
  public ClientOptions withConnectTimeout(Duration newConnectTimeout) {
    return new ClientOptions(
        deadline,
        attemptTimeout,
        positive("connect timeout", newConnectTimeout),
        sessionTimeout,
        retry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        tls);
  }

  /** The wanted timeout of the ZooKeeper session; 1 ms to 1 day. */
  public ClientOptions withSessionTimeout(Duration newSessionTimeout) {
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        positive("ZooKeeper session timeout", newSessionTimeout),
        retry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        tls);
  }

  public ClientOptions withRetry(RetryOptions newRetry) {
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        newRetry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        tls);
  }

  /** Connections to each server, shared by all threads; 1 to 64. */
  public ClientOptions withConnectionsPerServer(int connections) {
    if (connections < 1 || connections > 64) {
      throw new IllegalArgumentException(
          connections + " connections per server: 1 to 64 are possible");
    }
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        retry,
        connections,
        maxReplyBytes,
        tenant,
        tls);
  }

  /** The largest reply that is accepted, in bytes; 64 KiB to 1 GiB. */
  public ClientOptions withMaxReplyBytes(int bytes) {
    if (bytes < 64 << 10 || bytes > 1 << 30) {
      throw new IllegalArgumentException(
          "replies of at most " + bytes + " bytes: 64 KiB to 1 GiB are possible");
    }
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        retry,
        connectionsPerServer,
        bytes,
        tenant,
        tls);
  }

  /** Whose work this is; servers share their capacity out between tenants. Empty: nobody's. */
  public ClientOptions withTenant(String newTenant) {
    if (newTenant.length() > MAX_TENANT_LENGTH) {
      throw new IllegalArgumentException(
          "a tenant of " + newTenant.length() + " characters: " + MAX_TENANT_LENGTH + " is most");
    }
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        retry,
        connectionsPerServer,
        maxReplyBytes,
        newTenant,
        tls);
  }

  /**
   * Encrypts connections to servers: whom to trust, and the certificate to show, if servers want
   * one. The name in a server's certificate must be the host that servers tell in {@code
   * rpc.advertise.address}. The files are read when the client connects.
   */
  public ClientOptions withTls(TlsOptions newTls) {
    return new ClientOptions(
        deadline,
        attemptTimeout,
        connectTimeout,
        sessionTimeout,
        retry,
        connectionsPerServer,
        maxReplyBytes,
        tenant,
        Objects.requireNonNull(newTls));
  }

  public Duration deadline() {
    return deadline;
  }

  public Duration attemptTimeout() {
    return attemptTimeout;
  }

  public Duration connectTimeout() {
    return connectTimeout;
  }

  public Duration sessionTimeout() {
    return sessionTimeout;
  }

  public RetryOptions retry() {
    return retry;
  }

  public int connectionsPerServer() {
    return connectionsPerServer;
  }

  public int maxReplyBytes() {
    return maxReplyBytes;
  }

  public String tenant() {
    return tenant;
  }

  /** Null: connections are not encrypted. */
  public @Nullable TlsOptions tls() {
    return tls;
  }

  static Duration positive(String what, Duration duration) {
    if (duration.toMillis() < 1 || duration.compareTo(MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException(
          what + " of " + duration + ": 1 ms to " + MAX_DEADLINE + " is possible");
    }
    return duration;
  }
}
