package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMultiplexedProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.thrift.ErrorCode;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.SteleError;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletService;
import org.stele.core.wire.MessageHeader;

/** Thrift clients that know nothing of the call header. */
class PlainThriftTest extends EveryServerKind {
  private static TTransport open(EndpointFixture endpoint) throws Exception {
    return new TFramedTransport(endpoint.thriftSocket());
  }

  private static TProtocol protocol(TTransport transport, boolean compact) {
    return compact ? new TCompactProtocol(transport) : new TBinaryProtocol(transport);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void libthriftClientsWork(boolean compact) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        TTransport transport = open(endpoint)) {
      TProtocol protocol = protocol(transport, compact);
      ServerService.Client client = new ServerService.Client(protocol);
      TableService.Client tables = new TableService.Client(protocol);
      for (int i = 0; i < 200; i++) {
        ByteBuffer answer = client.ping(ByteBuffer.wrap(new byte[] {(byte) i, 2}), 1 + i * 100);
        assertEquals((byte) i, answer.get(answer.position()));
        assertEquals(1 + i * 100, answer.remaining());
      }
      SteleError error = assertThrows(SteleError.class, () -> tables.deleteTable("x"));
      assertEquals(ErrorCode.UNKNOWN_TABLE, error.getCode());
      TApplicationException unknown =
          assertThrows(TApplicationException.class, () -> tables.flushTable("x"));
      assertEquals(TApplicationException.UNKNOWN_METHOD, unknown.getType());
      assertEquals(Map.of("a", "b"), client.settings());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void multiplexedClientsWork(boolean compact) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        TTransport transport = open(endpoint)) {
      TProtocol protocol = protocol(transport, compact);
      ServerService.Client client =
          new ServerService.Client(new TMultiplexedProtocol(protocol, "ServerService"));
      ByteBuffer answer = client.ping(ByteBuffer.wrap(new byte[] {7}), 1);
      assertEquals(7, answer.get(answer.position()));
      ServerService.Client wrong =
          new ServerService.Client(new TMultiplexedProtocol(protocol, "TabletService"));
      TApplicationException e =
          assertThrows(TApplicationException.class, () -> wrong.ping(ByteBuffer.allocate(0), 1));
      assertTrue(e.getMessage().contains("TabletService:ping"), e.getMessage());
    }
  }

  @Test
  void manyClientsAtOnceGetTheirOwnAnswers() throws Exception {
    int clients = 32;
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      List<Future<?>> done = new ArrayList<>();
      for (int c = 0; c < clients; c++) {
        byte mark = (byte) c;
        done.add(
            threads.submit(
                () -> {
                  try (TTransport transport = open(endpoint)) {
                    ServerService.Client client =
                        new ServerService.Client(protocol(transport, mark % 2 == 0));
                    for (int i = 0; i < 200; i++) {
                      byte[] sent = {mark, (byte) i};
                      ByteBuffer answer = client.ping(ByteBuffer.wrap(sent), 2);
                      byte[] received = new byte[2];
                      answer.get(received);
                      assertArrayEquals(sent, received);
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> future : done) {
        future.get(30, TimeUnit.SECONDS);
      }
      endpoint.await("rpc.connections", 0);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void oneCallAtATimeInOrder() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.connect()) {
      int calls = 50;
      for (int i = 0; i < calls; i++) {
        client.plainCall(
            i % 4 < 2 ? MessageHeader.COMPACT : MessageHeader.BINARY,
            MessageHeader.CALL,
            i % 2 == 0 ? "scan" : "ping",
            i,
            i % 2 == 0 ? EndpointFixture.scan("t" + i) : EndpointFixture.ping(1));
      }
      client.flush();
      for (int i = 0; i < calls; i++) {
        if (i % 2 == 0) {
          int begun = i / 2 + 1;
          EndpointFixture.await(() -> endpoint.service.scansBegun.get() == begun);
          endpoint.service.scanPermits.release();
        }
        assertEquals(i, client.readPlain().sequenceId());
      }
      assertEquals(calls / 2, endpoint.service.scansBegun.get());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {MessageHeader.COMPACT, MessageHeader.BINARY})
  void answersNameTheMethodWithoutItsService(int protocol) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.connect()) {
      for (String name : List.of("ServerService:ping", "NoService:ping", ":ping", "ping")) {
        client.plainCall(protocol, MessageHeader.CALL, name, 5, EndpointFixture.ping(1)).flush();
        MessageHeader answer = client.readPlain();
        assertEquals("ping", answer.name());
        assertEquals(5, answer.sequenceId());
        boolean known = name.equals("ping") || name.startsWith("Server");
        assertEquals(known ? MessageHeader.REPLY : MessageHeader.EXCEPTION, answer.type(), name);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {MessageHeader.COMPACT, MessageHeader.BINARY})
  void aFrameTooLargeIsAnsweredByItsBegin(int protocol) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M")) {
      for (String name : List.of("scan", "TabletService:scan")) {
        try (RawClient client = endpoint.connect()) {
          // Behind a call that is not answered yet; its begin comes byte by byte.
          client.plainCall(protocol, MessageHeader.CALL, "scan", 1, EndpointFixture.scan("t"));
          client.out.writeInt((1 << 20) + 1);
          client.message(protocol, MessageHeader.CALL, name, 2, EndpointFixture.scan("t"));
          client.out.writeBytes(new byte[1 << 20]);
          byte[] all = client.out.toByteArray();
          client.out.clear();
          for (int i = 0; i < 200; i++) {
            client.socket.getOutputStream().write(all, i, 1);
          }
          EndpointFixture.await(() -> endpoint.service.scansBegun.get() > 0);
          endpoint.service.scanPermits.release();
          client.socket.getOutputStream().write(all, 200, all.length - 200);
          assertEquals(1, client.readPlain().sequenceId());
          assertEquals(2, client.readPlain().sequenceId());
          assertEquals("scan", client.message.name());
          SteleError error = client.body(new TabletService.scan_result()).getError();
          assertEquals(ErrorCode.TOO_LARGE, error.getCode());
          assertEquals(
              "frame length 1048577 is above rpc.frame.max (1048576 bytes)", error.getMessage());
          assertEquals(0, client.readToEnd());
        }
      }
      endpoint.await("rpc.connections", 0);
      endpoint.assertServes();
    }
  }

  @Test
  void aFrameTooLargeWithAHeaderIsRefused() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M");
        RawClient client = endpoint.greeted()) {
      client.call(8, "ping", EndpointFixture.ping(new byte[1 << 20], 1)).flush();
      assertEquals(8, client.readReply());
      assertTrue(client.reply.isRefused());
      assertEquals(org.stele.core.error.ErrorCode.TOO_LARGE, client.reply.refusal().code());
      assertEquals(0, client.readToEnd());
    }
  }

  @Test
  void aFrameTooLargeForAnUnknownMethodIsAnException() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M");
        RawClient client = endpoint.connect()) {
      client
          .plainCall(
              MessageHeader.BINARY,
              MessageHeader.CALL,
              "pong",
              3,
              EndpointFixture.ping(new byte[1 << 20], 1))
          .flush();
      assertEquals(3, client.readPlain().sequenceId());
      assertTrue(client.exception().getMessage().contains("rpc.frame.max"));
    }
  }

  @Test
  void aMissingPartIsNamed() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.connect()) {
      for (String method : List.of("lookup", "scan")) { // inline and on a worker
        int begin = client.beginFrame();
        MessageHeader.encode(client.out, MessageHeader.COMPACT, 1, 5, method.getBytes(UTF_8));
        client.out.writeByte(0x1c).writeByte(0x18).writeByteString(new byte[] {'t'});
        client.out.writeByte(0).writeByte(0);
        client.endFrame(begin).flush();
        client.readPlain();
        SteleError error = client.body(new TabletService.lookup_result()).getError();
        assertEquals(ErrorCode.BAD_REQUEST, error.getCode());
        String part = method.equals("lookup") ? "row" : "range";
        assertEquals(
            "arguments of "
                + method
                + ": "
                + part
                + " is missing, or has a value that this server does not know",
            error.getMessage());
      }
    }
  }

  @Test
  void malformedArgumentsAreAProtocolErrorAndTheConnectionGoesOn() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.connect()) {
      int begin = client.beginFrame();
      MessageHeader.encode(client.out, MessageHeader.COMPACT, 1, 5, "ping".getBytes(UTF_8));
      client.out.writeByte(0x18).writeVarint(1000);
      client.endFrame(begin).flush();
      client.readPlain();
      assertEquals(TApplicationException.PROTOCOL_ERROR, client.exception().getType());
      client
          .plainCall(MessageHeader.COMPACT, MessageHeader.CALL, "ping", 6, EndpointFixture.ping(1))
          .flush();
      assertEquals(6, client.readPlain().sequenceId());
    }
  }
}
