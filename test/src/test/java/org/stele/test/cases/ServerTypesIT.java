package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.client.SteleClient;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/** Every kind of server does the same for the command line, the Java client and plain Thrift. */
class ServerTypesIT {
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(5));
  private static final int LARGE_REPLY = 16 << 20;

  @TempDir private Path directory;

  @AfterEach
  void useDefault() {
    ServerKind.useDefault();
  }

  @ParameterizedTest
  @EnumSource
  void servesEveryKindOfClient(ServerKind kind) throws Exception {
    kind.use();
    try (StandaloneServer server = StandaloneServer.started(directory, Map.of())) {
      server.stele("table", "create", "people").orFail();
      try (SteleClient client = server.client()) {
        for (int i = 0; i < 100; i++) {
          client.write("people", Mutation.of("row" + i).put("f", "q", "value " + i));
        }
        for (int i = 0; i < 100; i++) {
          assertEquals("value " + i, client.lookup("people", "row" + i).get("f", "q"));
        }
        int scanned = 0;
        try (var scanner = client.scanner("people").range(Range.prefix("row")).open()) {
          for (var cell : scanner) {
            scanned += cell.value().length() > 0 ? 1 : 0;
          }
        }
        assertEquals(100, scanned);
        CommandResult scan = server.stele("scan", "people").orFail();
        assertTrue(scan.out().contains("value 99"), scan.out());
        assertEquals(
            LARGE_REPLY,
            client.servers().ping(server.address(), Bytes.of("x"), LARGE_REPLY).length());
      }
      try (RawSocket plain = RawSocket.connect(server.port())) {
        byte[] answer = plain.call(CompactCall.ping(new byte[8], 8), LIMIT);
        assertEquals(CompactReply.Kind.RESULT, CompactReply.of(answer).kind());
      }
      assertEquals(0, server.stop().exitCode());
    }
  }

  @Test
  void saslDoesNotStartAndSaysWhatDoes() {
    StandaloneServer server =
        new StandaloneServer(Installation.shared(), directory, Map.of("rpc.server.type", "sasl"));
    CommandResult started = server.start();
    assertTrue(started.exitCode() != 0);
    assertTrue(started.err().contains("sasl"), started.err());
    assertTrue(started.err().contains("threaded_selector"), started.err());
  }
}
