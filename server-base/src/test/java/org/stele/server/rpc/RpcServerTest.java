package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.stele.core.settings.Settings;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;

class RpcServerTest {
  @Test
  void smoke() throws Exception {
    TestService service = new TestService();
    try (RpcServer server =
        new RpcServer(
            Settings.of(Map.of("rpc.port", "0")), service.methods(), Clock.system(), "i", 99)) {
      server.start();
      try (RawClient client = RawClient.greeted(server.address())) {
        for (int i = 0; i < 1000; i++) {
          client.call(
              i,
              "ping",
              new ServerService.ping_args().setPayload(new byte[] {(byte) i}).setReplySize(1));
        }
        client.flush();
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
          long id = client.readReply();
          ids.add(id);
          assertEquals((byte) id, client.body(new ServerService.ping_result()).getSuccess()[0]);
        }
        assertEquals(1000, ids.size());
      }
    }
  }
}
