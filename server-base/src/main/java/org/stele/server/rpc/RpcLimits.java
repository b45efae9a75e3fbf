package org.stele.server.rpc;

import java.time.Duration;
import org.stele.core.settings.ServerType;
import org.stele.core.settings.Setting;
import org.stele.core.settings.SettingException;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;

/**
 * The endpoint's settings as its stages use them: bytes and nanoseconds.
 *
 * @param selectors selector threads, where connections share them
 * @param frameMaxBytes largest frame, without its four length bytes
 */
record RpcLimits(
    ServerType type,
    int selectors,
    int workers,
    long workerIdleNanos,
    int queueCalls,
    long queueBytes,
    boolean tenantTrusted,
    String tenantWeights,
    int frameMaxBytes,
    long readBytes,
    long replyBytes,
    int connections,
    long idleNanos,
    long partialNanos,
    long writeNanos,
    long handshakeNanos,
    long deadlineDefaultNanos,
    long deadlineMaxNanos) {

  static RpcLimits of(Settings settings) {
    ServerType type = settings.get(StandardSettings.RPC_SERVER_TYPE);
    if (type == ServerType.SASL) {
      throw new SettingException(
          "rpc.server.type = sasl is not available in this release, which has no authentication;"
              + " use threaded_selector, custom_hs_ha, threadpool or ssl");
    }
    return new RpcLimits(
        type,
        type == ServerType.CUSTOM_HS_HA ? 1 : selectors(settings),
        settings.get(StandardSettings.RPC_WORKERS),
        nanos(settings, StandardSettings.RPC_WORKERS_IDLE_TIMEOUT),
        settings.get(StandardSettings.RPC_QUEUE_CALLS),
        settings.get(StandardSettings.RPC_QUEUE_BYTES),
        settings.get(StandardSettings.RPC_TENANT_TRUSTED),
        settings.get(StandardSettings.RPC_TENANT_WEIGHTS),
        Math.toIntExact(settings.get(StandardSettings.RPC_FRAME_MAX)),
        settings.get(StandardSettings.RPC_READ_BYTES),
        settings.get(StandardSettings.RPC_REPLY_BYTES),
        settings.get(StandardSettings.RPC_CONNECTIONS),
        nanos(settings, StandardSettings.RPC_IDLE_TIMEOUT),
        nanos(settings, StandardSettings.RPC_PARTIAL_TIMEOUT),
        nanos(settings, StandardSettings.RPC_WRITE_TIMEOUT),
        nanos(settings, StandardSettings.RPC_TLS_HANDSHAKE_TIMEOUT),
        nanos(settings, StandardSettings.RPC_DEADLINE_DEFAULT),
        nanos(settings, StandardSettings.RPC_DEADLINE_MAX));
  }

  private static int selectors(Settings settings) {
    int wanted = settings.get(StandardSettings.RPC_SELECTORS);
    return wanted > 0 ? wanted : Math.max(2, Runtime.getRuntime().availableProcessors() / 4);
  }

  private static long nanos(Settings settings, Setting<Duration> setting) {
    return settings.get(setting).toNanos();
  }
}
