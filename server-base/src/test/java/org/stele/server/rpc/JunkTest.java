package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.ByteWriter;
import org.stele.core.thrift.ServerService;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;

/** Bytes that are no calls cost one connection, and nothing else. */
class JunkTest extends EveryServerKind {
  private static final byte[] CLIENT_HELLO =
      HexFormat.of()
          .parseHex("16030100c4010000c003035f8a6d2b1c0e4f7a9b3d2c1e0f8a7b6c5d4e3f2a1b0c9d");

  private static List<byte[]> probes() {
    byte[] random = new byte[64];
    new Random(4).nextBytes(random);
    return List.of(
        "GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII),
        "SSH-2.0-x\r\n".getBytes(US_ASCII),
        CLIENT_HELLO,
        "Hello\n".getBytes(US_ASCII),
        random,
        new byte[64]);
  }

  @Test
  void probesOfOtherProtocolsAreClosed() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient healthy = endpoint.greeted()) {
      int probes = 0;
      List<RawClient> open = new ArrayList<>();
      for (byte[] probe : probes()) {
        for (int i = 0; i < 50; i++) {
          RawClient client = endpoint.connect();
          client.raw(probe).flush();
          open.add(client);
          probes++;
        }
        healthy.call(1, "ping", EndpointFixture.ping(1)).flush();
        healthy.readReply();
      }
      for (RawClient client : open) {
        client.readToEnd();
        client.close();
      }
      assertEquals(probes, endpoint.count("rpc.connections.junk"));
      for (int i = 0; i < 200; i++) {
        endpoint.connect().close();
      }
      endpoint.await("rpc.connections", 1);
      endpoint.assertServes();
      assertEquals(0, endpoint.count("rpc.loop.failures"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 256 << 20})
  void impossibleLengthsCloseAtOnce(int length) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M")) {
      for (byte[] body : List.of(new byte[0], new byte[100])) {
        try (RawClient client = endpoint.greeted()) {
          client.call(1, "ping", EndpointFixture.ping(1));
          client.out.writeInt(length).writeBytes(body);
          client.flush();
          assertEquals(1, client.readReply(), "the call before is answered");
          assertEquals(0, client.readToEnd());
        }
      }
      assertEquals(2, endpoint.count("rpc.connections.junk"));
      endpoint.assertServes();
    }
  }

  @Test
  void aTooLargeFrameThatIsNoCallIsClosed() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M")) {
      byte[] longName = new byte[5000];
      longName[0] = (byte) 0x82;
      longName[1] = 0x21;
      longName[3] = (byte) 0xff;
      longName[4] = (byte) 0xff;
      longName[5] = 0x7f;
      for (byte[] body : List.of(new byte[] {0}, new byte[100], longName)) {
        try (RawClient client = endpoint.connect()) {
          client.out.writeInt((1 << 20) + 1).writeBytes(body);
          client.flush();
          assertEquals(0, client.readToEnd());
        }
      }
      endpoint.assertServes();
    }
  }

  @Test
  void aFrameOfExactlyTheLimitIsTaken() throws Exception {
    int max = 1 << 20;
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M");
        RawClient client = endpoint.greeted()) {
      client.call(1, "ping", EndpointFixture.ping(new byte[max - 100], 1));
      int shorter = client.out.length() - 4;
      client.out.clear();
      client.call(1, "ping", EndpointFixture.ping(new byte[max - 100 + max - shorter], 1));
      assertEquals(max, client.out.length() - 4);
      client.flush();
      assertEquals(1, client.readReply());
      assertTrue(!client.reply.isRefused());
      assertEquals(0, endpoint.server.counters().snapshot().get("rpc.malformed"));
    }
  }

  @Test
  void unframedClientsAreToldWhy() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      for (boolean compact : new boolean[] {true, false}) {
        try (TSocket socket = endpoint.thriftSocket()) {
          TProtocol protocol = compact ? new TCompactProtocol(socket) : new TBinaryProtocol(socket);
          TApplicationException e =
              assertThrows(
                  TApplicationException.class,
                  () -> new ServerService.Client(protocol).ping(ByteBuffer.allocate(3), 1));
          assertTrue(e.getMessage().contains("framed"), e.getMessage());
        }
        try (RawClient client = endpoint.connect()) {
          int kind = compact ? MessageHeader.COMPACT : MessageHeader.BINARY;
          client.message(kind, MessageHeader.CALL, "ping", 77, EndpointFixture.ping(1));
          client.flush();
          MessageHeader answer = client.readUnframed();
          assertEquals("ping", answer.name());
          assertEquals(77, answer.sequenceId());
        }
      }
      endpoint.await("rpc.connections", 0);
    }
  }

  @Test
  void theOldBinaryProtocolIsToldWhy() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        TFramedTransport framed = new TFramedTransport(endpoint.thriftSocket())) {
      TProtocol old = new TBinaryProtocol(framed, false, false);
      TApplicationException e =
          assertThrows(
              TApplicationException.class,
              () -> new ServerService.Client(old).ping(ByteBuffer.allocate(3), 1));
      assertTrue(e.getMessage().contains("strict binary"), e.getMessage());
      endpoint.await("rpc.connections", 0);
    }
  }

  @Test
  void lyingInnerLengthsAreProtocolErrors() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      int[] claims = {0x7fffffff, 0x40000000, -1};
      for (int round = 0; round < kind.fewer(100); round++) {
        for (int claim : claims) {
          for (byte[] payload : lies(claim)) {
            try (RawClient client = endpoint.connect()) {
              client.frame(payload).flush();
              client.readPlain();
              assertTrue(client.exception().getMessage().length() < 1000);
            }
          }
        }
      }
      endpoint.assertServes();
      assertEquals(0, endpoint.count("rpc.loop.failures"));
      assertEquals(0, endpoint.count("rpc.failures"));
    }
  }

  /** Messages whose name, binary field, list, map and nesting are not what they say. */
  private static List<byte[]> lies(int claim) {
    ByteWriter nested = message("ping");
    for (int i = 0; i < 10_000; i++) {
      nested.writeByte(0x9c);
    }
    ByteWriter nestedLists = message("ping");
    nestedLists.writeByte(0x99);
    for (int i = 0; i < 10_000; i++) {
      nestedLists.writeByte(0x19);
    }
    return List.of(
        new ByteWriter()
            .writeByte(0x82)
            .writeByte(0x21)
            .writeVarint(1)
            .writeVarint(claim)
            .toByteArray(),
        new ByteWriter().writeInt(0x80010001).writeInt(claim).writeInt(0).toByteArray(),
        message("ping").writeByte(0x18).writeVarint(claim).toByteArray(),
        message("scan")
            .writeByte(0x1c)
            .writeByte(0x39)
            .writeByte(0xfc)
            .writeVarint(claim)
            .toByteArray(),
        message("ping").writeByte(0x9b).writeVarint(claim).writeByte(0x88).toByteArray(),
        message("ping").writeByte(0x9d).toByteArray(),
        message("ping").writeByte(0x9e).toByteArray(),
        message("scan").writeByte(0x1c).writeByte(0x18).toByteArray(),
        message("scan").toByteArray(),
        message("x".repeat(5000)).writeByte(0).toByteArray(),
        nested.toByteArray(),
        nestedLists.toByteArray());
  }

  private static ByteWriter message(String method) {
    ByteWriter out = new ByteWriter();
    MessageHeader.encode(out, MessageHeader.COMPACT, MessageHeader.CALL, 1, method.getBytes(UTF_8));
    return out;
  }

  @Test
  void malformedMessagesBehindAHeaderAreRefusedOneByOne() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      long id = 0;
      for (byte[] payload : lies(0x7fffffff)) {
        int begin = client.beginFrame();
        new CallHeader().reset(++id, 7).encode(client.out);
        client.out.writeBytes(payload);
        client.endFrame(begin).flush();
        assertEquals(id, client.readReply());
        assertTrue(client.reply.isRefused());
      }
      client.call(++id, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(id, client.readReply());
    }
  }

  @Test
  void malformedHeadersAreRefusedAndTheConnectionEnds() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      ByteWriter good = new ByteWriter();
      new CallHeader().reset(7, 8).setTenant("ops").setDeadline(1, 2).encode(good);
      for (int cut = 1; cut < good.length(); cut++) {
        try (RawClient client = endpoint.greeted()) {
          byte[] payload = new byte[cut];
          System.arraycopy(good.array(), 0, payload, 0, cut);
          client.frame(payload).flush();
          client.readReply();
          assertTrue(client.reply.isRefused());
          assertEquals(0, client.readToEnd());
        }
      }
      endpoint.assertServes();
    }
  }

  @Test
  void randomFramesNeverStopTheServer() throws Exception {
    Random random = new Random(5);
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      for (int i = 0; i < 1000; i++) {
        byte[] payload = new byte[1 + random.nextInt(100)];
        random.nextBytes(payload);
        payload[0] = (byte) new int[] {0x82, 0x80, 0xc5, 0}[random.nextInt(4)];
        try (RawClient client = i % 2 == 0 ? endpoint.connect() : endpoint.greeted()) {
          client.frame(payload);
          client.frame(payload).flush();
          client.socket.shutdownOutput();
          client.readToEnd();
        }
      }
      assertEquals(0, endpoint.count("rpc.loop.failures"));
      endpoint.assertServes();
      endpoint.await("rpc.connections", 0);
    }
  }
}
