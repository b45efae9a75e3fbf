package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * More connections than the process may have descriptors: each gets an answer or an end, those that
 * are there are served, and when they go all is as before.
 */
class DescriptorLimitIT extends ForServerKinds {
  private static final int DESCRIPTORS = 256;
  private static final int CONNECTIONS = 1000;
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(5));

  @TempDir private Path directory;

  @Test
  void eachConnectionGetsAnAnswerOrAnEnd() throws IOException {
    StandaloneServer server = new StandaloneServer(Installation.shared(), directory, Map.of());
    server.under(List.of("bash", "-c", "ulimit -n " + DESCRIPTORS + "; exec \"$@\"", "limited"));
    try (server) {
      server.start().orFail();
      int port = server.port();
      long pid = server.pid();
      try (SteleClient client = server.client()) {
        client.tables().create("small");
        client.write("small", Mutation.of("a").put("f", "q", "v"));
        int before = ProcessGauges.of(pid).descriptors();
        assertTrue(before < DESCRIPTORS, () -> before + " descriptors");
        for (int round = 0; round < TestForm.count(2, 20); round++) {
          exhaust(port);
          // The client's connection is one of those that stay.
          assertEquals("v", client.lookup("small", "a").get("f", "q"));
        }
        Conditions.await(
            "descriptors are back at " + before,
            LIMIT,
            () -> ProcessGauges.of(pid).descriptors() <= before + 5);
        client.write("small", Mutation.of("b").put("f", "q", "w"));
        client.tables().flush("small"); // opens files
        assertEquals("w", client.lookup("small", "b").get("f", "q"));
        Map<String, Long> counters = client.servers().status(server.address()).counters();
        assertEquals(0L, counters.get("rpc.loop.failures"));
        assertTrue(counters.get("rpc.connections.refused") > 0, counters::toString);
      }
      assertEquals(0, server.stop().exitCode());
    }
  }

  private void exhaust(int port) throws IOException {
    List<RawSocket> sockets = new ArrayList<>();
    int answered = 0;
    try {
      for (int i = 0; i < CONNECTIONS; i++) {
        sockets.add(RawSocket.connect(port));
      }
      for (RawSocket socket : sockets) {
        answered += isAnswered(socket) ? 1 : 0;
      }
    } finally {
      for (RawSocket socket : sockets) {
        socket.close();
      }
    }
    int served = answered;
    assertTrue(
        served > 50 / kind.descriptorsPerConnection(), () -> served + " connections were served");
    assertTrue(served < DESCRIPTORS, () -> served + " connections were served");
    Conditions.await(
        "a new connection is served",
        LIMIT,
        () -> {
          try (RawSocket socket = RawSocket.connect(port)) {
            return isAnswered(socket);
          }
        });
  }

  /** Whether a call is answered; the end of the connection is the other way, silence is none. */
  private static boolean isAnswered(RawSocket socket) throws IOException {
    try {
      byte[] answer = socket.call(CompactCall.ping(new byte[8], 8), LIMIT);
      assertEquals(CompactReply.Kind.RESULT, CompactReply.of(answer).kind());
      return true;
    } catch (SocketTimeoutException e) {
      throw new AssertionError("a connection hears nothing", e);
    } catch (EOFException | SocketException | SSLException e) { // turned away
      return false;
    }
  }
}
