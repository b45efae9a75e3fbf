package org.stele.tserver.service;

import java.nio.ByteBuffer;
import java.util.Map;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.ServerStatus;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;

/** What a server says about itself. */
final class ServerHandlers {
  private static final String SERVICE = "ServerService";
  private static final int MAX_REPLY_BYTES = 16 << 20;

  private final ServerSelf self;

  ServerHandlers(ServerSelf self) {
    this.self = self;
  }

  void register(Methods methods) {
    methods
        .add(SERVICE, "ping", Execution.INLINE, false, ServerService.ping_args::new, this::ping)
        .add(
            SERVICE, "status", Execution.INLINE, true, ServerService.status_args::new, this::status)
        .add(
            SERVICE,
            "settings",
            Execution.INLINE,
            true,
            ServerService.settings_args::new,
            this::settings);
  }

  private void ping(ServerService.ping_args arguments, Call call) {
    int size = arguments.getReplySize();
    if (size < 0 || size > MAX_REPLY_BYTES) {
      throw new SteleException(
          ErrorCode.TOO_LARGE,
          "a ping answered with " + size + " bytes: 0 to " + MAX_REPLY_BYTES + " are possible");
    }
    ServerService.ping_result result = new ServerService.ping_result();
    result.setSuccess(ByteBuffer.allocate(size));
    call.reply(result);
  }

  private void status(ServerService.status_args arguments, Call call) {
    String notReady = self.notReadyReason();
    ServerStatus status = new ServerStatus();
    status.setInstanceId(self.instanceId());
    status.setSession(self.session());
    status.setAddress(self.address());
    status.setVersion(self.version());
    status.setReady(notReady.isEmpty());
    if (!notReady.isEmpty()) {
      status.setNotReadyReason(notReady);
    }
    status.setUpMillis(self.upMillis());
    status.setTablets(self.tablets());
    status.setCounters(self.counters());
    ServerService.status_result result = new ServerService.status_result();
    result.setSuccess(status);
    call.reply(result);
  }

  private void settings(ServerService.settings_args arguments, Call call) {
    ServerService.settings_result result = new ServerService.settings_result();
    result.setSuccess(Map.copyOf(self.settings()));
    call.reply(result);
  }
}
