package org.stele.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.RetryOptions;
import org.stele.core.net.TlsOptions;

/**
 * How a {@link SteleClient} behaves. Immutable; every {@code with…} method returns a changed copy
 * and refuses a value that makes no sense with {@link IllegalArgumentException}.
 */
public final class ClientOptions {
  private static final Duration MAX_DEADLINE = Duration.ofDays(1);
  private static final int MAX_TENANT_BYTES = 255;

  private final Duration deadline;
  private final Duration attemptTimeout;
  private final Duration connectTimeout;
  private final Duration sessionTimeout;
  private final RetryOptions retry;
  private final int connectionsPerServer;
  private final int maxReplyBytes;
  private final String tenant;
  private final @Nullable TlsOptions tls;

  private ClientOptions(Builder from) {
    this.deadline = from.deadline;
    this.attemptTimeout = from.attemptTimeout;
    this.connectTimeout = from.connectTimeout;
    this.sessionTimeout = from.sessionTimeout;
    this.retry = from.retry;
    this.connectionsPerServer = from.connectionsPerServer;
    this.maxReplyBytes = from.maxReplyBytes;
    this.tenant = from.tenant;
    this.tls = from.tls;
  }

  /** A copy with a change. */
  private ClientOptions with(Consumer<Builder> change) {
    Builder copy = new Builder();
    copy.deadline = deadline;
    copy.attemptTimeout = attemptTimeout;
    copy.connectTimeout = connectTimeout;
    copy.sessionTimeout = sessionTimeout;
    copy.retry = retry;
    copy.connectionsPerServer = connectionsPerServer;
    copy.maxReplyBytes = maxReplyBytes;
    copy.tenant = tenant;
    copy.tls = tls;
    change.accept(copy);
    return new ClientOptions(copy);
  }

  /** Deadline 60 s, one attempt 10 s, two connections per server, no tenant, no encryption. */
  public static ClientOptions defaults() {
    return new ClientOptions(new Builder());
  }

  /** The longest an operation may take, all its attempts together; 1 ms to 1 day. */
  public ClientOptions withDeadline(Duration deadline) {
    positive("deadline", deadline);
    return with(copy -> copy.deadline = deadline);
  }

  /**
   * The longest one attempt of a lookup, write or scan batch waits for its server before the tablet
   * is looked for elsewhere; 1 ms to 1 day. Table operations have the whole deadline for one
   * attempt.
   */
  public ClientOptions withAttemptTimeout(Duration timeout) {
    positive("attempt timeout", timeout);
    return with(copy -> copy.attemptTimeout = timeout);
  }

  /** The longest that setting up a connection may take; 1 ms to 1 day. */
  public ClientOptions withConnectTimeout(Duration timeout) {
    positive("connect timeout", timeout);
    return with(copy -> copy.connectTimeout = timeout);
  }

  /** The wanted timeout of the ZooKeeper session; 1 ms to 1 day. */
  public ClientOptions withSessionTimeout(Duration timeout) {
    positive("ZooKeeper session timeout", timeout);
    return with(copy -> copy.sessionTimeout = timeout);
  }

  public ClientOptions withRetry(RetryOptions options) {
    Objects.requireNonNull(options, "options is null");
    return with(copy -> copy.retry = options);
  }

  /** Connections to each server, shared by all threads; 1 to 64. */
  public ClientOptions withConnectionsPerServer(int connections) {
    if (connections < 1 || connections > 64) {
      throw new IllegalArgumentException(
          connections + " connections per server: 1 to 64 are possible");
    }
    return with(copy -> copy.connectionsPerServer = connections);
  }

  /** The largest reply that is accepted, in bytes; 64 KiB to 1 GiB. */
  public ClientOptions withMaxReplyBytes(int bytes) {
    if (bytes < 64 << 10 || bytes > 1 << 30) {
      throw new IllegalArgumentException(
          "replies of at most " + bytes + " bytes: 64 KiB to 1 GiB are possible");
    }
    return with(copy -> copy.maxReplyBytes = bytes);
  }

  /**
   * Whose work this is; servers share their capacity out between tenants. Empty: nobody's; at most
   * 255 bytes of UTF-8.
   */
  public ClientOptions withTenant(String name) {
    int bytes = name.getBytes(UTF_8).length;
    if (bytes > MAX_TENANT_BYTES) {
      throw new IllegalArgumentException(
          "a tenant of " + bytes + " bytes: " + MAX_TENANT_BYTES + " is most");
    }
    return with(copy -> copy.tenant = name);
  }

  /**
   * Encrypts connections to servers: whom to trust, and the certificate to show, if servers want
   * one. The name in a server's certificate must be the host that servers tell in {@code
   * rpc.advertise.address}. The files are read when the client connects.
   */
  public ClientOptions withTls(TlsOptions options) {
    Objects.requireNonNull(options, "options is null");
    return with(copy -> copy.tls = options);
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

  /** The same values while they are being set; at first the defaults. */
  private static final class Builder {
    private Duration deadline = Duration.ofSeconds(60);
    private Duration attemptTimeout = Duration.ofSeconds(10);
    private Duration connectTimeout = Duration.ofSeconds(3);
    private Duration sessionTimeout = Duration.ofSeconds(30);
    private RetryOptions retry = RetryOptions.defaults();
    private int connectionsPerServer = 2;
    private int maxReplyBytes = 256 << 20;
    private String tenant = "";
    private @Nullable TlsOptions tls;
  }
}
