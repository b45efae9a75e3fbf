package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.settings.Settings;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletService;
import org.stele.core.time.Clock;
import org.stele.core.time.ManualClock;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.SteleErrors;

/** Calls on connections with header. */
class RpcServerTest extends EveryServerKind {
  @Test
  void manyCallsOfOneWriteAreAllAnswered() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      int calls = 1000;
      for (int i = 0; i < calls; i++) {
        client.call(i, "ping", EndpointFixture.ping(new byte[] {(byte) i}, 1));
      }
      client.flush();
      Set<Long> ids = new HashSet<>();
      for (int i = 0; i < calls; i++) {
        long id = client.readReply();
        ids.add(id);
        assertEquals((byte) id, client.body(new ServerService.ping_result()).getSuccess()[0]);
        assertEquals(EndpointFixture.BOOT_ID, client.reply.bootId());
      }
      assertEquals(calls, ids.size());
      assertEquals(calls, endpoint.count("rpc.calls.ping"));
      assertEquals(calls, endpoint.count("rpc.inline"));
    }
  }

  @Test
  void repliesComeInAnyOrder() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      client.call(1, "scan", EndpointFixture.scan("slow"));
      client.call(2, "write", EndpointFixture.write());
      client.call(3, "ServerService:ping", EndpointFixture.ping(2)).flush();
      assertEquals(3, client.readReply());
      Call write = endpoint.service.writes.take();
      write.reply(TestService.writeResult());
      assertEquals(2, client.readReply());
      endpoint.service.scanPermits.release();
      assertEquals(1, client.readReply());
      TabletService.scan_result scan = client.body(new TabletService.scan_result());
      assertEquals("slow", scan.getSuccess().getExtent().getTableId());
    }
  }

  @Test
  void helloTellsWhoTheServerIs() throws Exception {
    ManualClock clock = new ManualClock(0, 12345);
    try (EndpointFixture endpoint = new EndpointFixture(clock);
        RawClient client = endpoint.connect()) {
      client.hello(0, 5, 0, EndpointFixture.INSTANCE).flush();
      client.readReply();
      assertTrue(client.reply.isHello());
      assertEquals(1, client.reply.version());
      assertEquals(EndpointFixture.INSTANCE, client.reply.instanceId());
      assertEquals(EndpointFixture.BOOT_ID, client.reply.bootId());
      assertEquals(12345, client.reply.serverNanos());
      assertEquals(48 << 20, client.reply.frameMaxBytes());
    }
  }

  @Test
  void helloThatCannotBeAgreedOnIsRefused() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      assertRefusedHello(endpoint, 2, 3, 0, "", ErrorCode.BAD_REQUEST, "versions 2 to 3");
      assertRefusedHello(endpoint, 1, 1, 1L << 40, "", ErrorCode.BAD_REQUEST, "10000000000");
      assertRefusedHello(endpoint, 1, 1, 0, "other", ErrorCode.NOT_SERVING, "instance-1");
      try (RawClient client = endpoint.connect()) {
        client.call(9, "ping", EndpointFixture.ping(1)).flush();
        assertEquals(9, client.readReply());
        assertEquals(ErrorCode.BAD_REQUEST, client.reply.refusal().code());
        assertEquals(0, client.readToEnd());
      }
      try (RawClient client = endpoint.greeted()) {
        client.hello(1, 1, 0, "").flush();
        client.readReply();
        assertTrue(client.reply.isRefused());
        assertEquals(0, client.readToEnd());
      }
    }
  }

  private static void assertRefusedHello(
      EndpointFixture endpoint,
      int lowest,
      int highest,
      long features,
      String instance,
      ErrorCode code,
      String words)
      throws Exception {
    try (RawClient client = endpoint.connect()) {
      client.hello(lowest, highest, features, instance).flush();
      client.readReply();
      SteleException refusal = client.reply.refusal();
      assertEquals(code, refusal.code());
      assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
      assertEquals(0, client.readToEnd());
    }
  }

  @Test
  void deadlinesAreOnTheServersClock() throws Exception {
    ManualClock clock = new ManualClock(0, 1000);
    try (EndpointFixture endpoint =
            new EndpointFixture(clock, "rpc.deadline.max", "10s", "rpc.deadline.default", "3s");
        RawClient client = endpoint.greeted()) {
      CallHeader header = new CallHeader();
      client.call(
          header.reset(1, 7).setDeadline(EndpointFixture.BOOT_ID, 1000),
          "ping",
          EndpointFixture.ping(1));
      client.flush();
      assertEquals(1, client.readReply());
      assertEquals(ErrorCode.DEADLINE_EXCEEDED, client.reply.refusal().code());

      client.call(
          header.reset(2, 7).setDeadline(EndpointFixture.BOOT_ID + 1, 5000),
          "ping",
          EndpointFixture.ping(1));
      client.flush();
      assertEquals(2, client.readReply());
      assertEquals(ErrorCode.UNAVAILABLE, client.reply.refusal().code());

      assertDeadline(endpoint, client, header.reset(3, 7), 1000 + 3_000_000_000L);
      assertDeadline(
          endpoint,
          client,
          header.reset(4, 7).setDeadline(EndpointFixture.BOOT_ID, Long.MAX_VALUE),
          1000 + 10_000_000_000L);
      assertDeadline(
          endpoint, client, header.reset(5, 7).setDeadline(EndpointFixture.BOOT_ID, 1001), 1001);
      assertEquals(1, endpoint.count("rpc.expired"));
    }
  }

  private static void assertDeadline(
      EndpointFixture endpoint, RawClient client, CallHeader header, long deadline)
      throws Exception {
    client.call(header, "write", EndpointFixture.write()).flush();
    Call call = endpoint.service.writes.take();
    assertEquals(deadline, call.caller().deadlineNanos());
    call.reply(TestService.writeResult());
    client.readReply();
    assertFalse(client.reply.isRefused());
  }

  @Test
  void handlersSeeTheCaller() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      CallHeader header =
          new CallHeader()
              .reset(1, 77)
              .setTenant("ops")
              .setRetry(250, 3)
              .setWriter(new WriterStamp(7, 8, 9))
              .setTrace(5, 6);
      client.call(header, "write", EndpointFixture.write()).flush();
      Call call = endpoint.service.writes.take();
      Caller caller = call.caller();
      assertEquals(InetAddress.getLoopbackAddress(), caller.address());
      assertEquals(77, caller.clientId());
      assertEquals("ops", caller.tenant());
      assertEquals(3, caller.attempt());
      assertEquals(new WriterStamp(7, 8, 9), caller.writer());
      assertEquals(5, caller.traceIdHigh());
      assertEquals(6, caller.traceIdLow());
      call.reply(TestService.writeResult());
    }
  }

  @Test
  void errorsOfHandlersAreAnswered() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      client.call(1, "deleteTable", new TableService.deleteTable_args().setName("x")).flush();
      client.readReply();
      TableService.deleteTable_result typed = client.body(new TableService.deleteTable_result());
      assertEquals(ErrorCode.UNKNOWN_TABLE, SteleErrors.fromThrift(typed.getError()).code());
      assertEquals("no table x", typed.getError().getMessage());

      client.call(2, "listTables", new TableService.listTables_args()).flush();
      client.readReply();
      TableService.listTables_result broken = client.body(new TableService.listTables_result());
      assertEquals(ErrorCode.INTERNAL, SteleErrors.fromThrift(broken.getError()).code());
      assertTrue(broken.getError().getMessage().contains("broken on purpose"));

      client.call(3, "nope", EndpointFixture.ping(1)).flush();
      assertEquals(3, client.readReply());
      assertEquals(ErrorCode.BAD_REQUEST, client.reply.refusal().code());

      client.call(4, "write", EndpointFixture.write()).flush();
      Call call = endpoint.service.writes.take();
      call.reply(new TabletService.write_result().setError(new org.stele.core.thrift.SteleError()));
      client.readReply();
      TabletService.write_result incomplete = client.body(new TabletService.write_result());
      assertEquals(ErrorCode.INTERNAL, SteleErrors.fromThrift(incomplete.getError()).code());
    }
  }

  @Test
  void aCallIsAnsweredOnce() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      client.call(1, "write", EndpointFixture.write()).flush();
      Call call = endpoint.service.writes.take();
      call.reply(TestService.writeResult());
      call.fail(new SteleException(ErrorCode.INTERNAL, "too late"));
      call.reply(TestService.writeResult());
      client.call(2, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(1, client.readReply());
      assertEquals(2, client.readReply());
      assertEquals(2, endpoint.count("rpc.answered.twice"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 300_000})
  void whatWouldBlockGoesToAWorkerWithItsFrame(int rowBytes) throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      byte[] row = new byte[rowBytes];
      row[rowBytes - 1] = 42;
      for (int i = 0; i < 20; i++) {
        client.call(i, "lookup", EndpointFixture.lookup(row));
        client.call(100 + i, "ping", EndpointFixture.ping(new byte[rowBytes], 1));
      }
      client.flush();
      for (int i = 0; i < 40; i++) {
        if (client.readReply() < 100) {
          byte[] packed = client.body(new TabletService.lookup_result()).getSuccess().getPacked();
          assertArrayEquals(row, packed);
        }
      }
      assertTrue(
          endpoint.service.lookupThreads.stream().allMatch(n -> n.startsWith("rpc-worker-")));
      assertEquals(rowBytes < 1000 ? 20 : 0, endpoint.count("rpc.handed.on"));
    }
  }

  @Test
  void lateRepliesComeFromAnyThread() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      int calls = 500;
      for (int i = 0; i < calls; i++) {
        client.call(i, "write", EndpointFixture.write());
      }
      client.flush();
      ExecutorService threads = Executors.newFixedThreadPool(4);
      try {
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
          Call call = endpoint.service.writes.take();
          done.add(threads.submit(() -> call.reply(TestService.writeResult())));
        }
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < calls; i++) {
          ids.add(client.readReply());
        }
        assertEquals(calls, ids.size());
        for (Future<?> future : done) {
          future.get(10, TimeUnit.SECONDS);
        }
      } finally {
        threads.shutdownNow();
      }
    }
  }

  @Test
  void aBatchOfRepliesIsWrittenTogether() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient a = endpoint.greeted();
        RawClient b = endpoint.greeted()) {
      for (int i = 0; i < 10; i++) {
        a.call(i, "write", EndpointFixture.write());
        b.call(i, "write", EndpointFixture.write());
      }
      a.flush();
      b.flush();
      List<Call> calls = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        calls.add(endpoint.service.writes.take());
      }
      Collections.shuffle(calls, new java.util.Random(3));
      long before = endpoint.count("rpc.bytes.written");
      try (ReplyBatch batch = ReplyBatch.open()) {
        assertNotNull(batch);
        try (ReplyBatch inner = ReplyBatch.open()) {
          assertNotNull(inner);
          calls.forEach(call -> call.reply(TestService.writeResult()));
        }
        assertEquals(before, endpoint.count("rpc.bytes.written"), "nothing is written yet");
      }
      Set<Long> ids = new HashSet<>();
      for (int i = 0; i < 10; i++) {
        ids.add(a.readReply());
        ids.add(100 + b.readReply());
      }
      assertEquals(20, ids.size());
    }
  }

  @Test
  void aReplyLargerThanTheSocketsBufferReachesASlowReader() throws Exception {
    int size = 20 << 20;
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = new RawClient(endpoint.server.address(), 4096)) {
      client.hello(1, 1, 0, "").flush();
      client.readReply();
      byte[] payload = new byte[] {5, 6, 7};
      client.call(1, "ping", EndpointFixture.ping(payload, size));
      client.call(2, "ping", EndpointFixture.ping(payload, 10)).flush();
      endpoint.assertServes();
      assertEquals(1, client.readReply());
      byte[] answer = client.body(new ServerService.ping_result()).getSuccess();
      assertEquals(size, answer.length);
      assertEquals(6, answer[1]);
      assertEquals(2, client.readReply());
    }
  }

  @Test
  void aReplyAboveTheFrameLimitIsAnError() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "1M");
        RawClient client = endpoint.greeted()) {
      client.call(1, "ping", EndpointFixture.ping(2 << 20)).flush();
      client.readReply();
      ServerService.ping_result result = client.body(new ServerService.ping_result());
      assertEquals(ErrorCode.TOO_LARGE, SteleErrors.fromThrift(result.getError()).code());
    }
  }

  @Test
  void onewayMessagesAreRunAndNeverAnswered() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.connect()) {
      client
          .plainCall(MessageHeader.BINARY, MessageHeader.ONEWAY, "ping", 1, EndpointFixture.ping(1))
          .flush();
      assertTrue(endpoint.service.onewayRun.await(10, TimeUnit.SECONDS));
      client.plainCall(MessageHeader.BINARY, MessageHeader.ONEWAY, "x", 2, EndpointFixture.ping(1));
      client
          .plainCall(MessageHeader.BINARY, MessageHeader.CALL, "ping", 3, EndpointFixture.ping(1))
          .flush();
      assertEquals(3, client.readPlain().sequenceId());
    }
  }

  @Test
  void onewayMessagesGetNoWordWhateverIsWrongWithThem() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      byte[] unknown = oneway("x");
      byte[] known = oneway("ping");
      assertSilent(endpoint, new CallHeader().reset(1, 7), unknown, true);
      assertSilent(
          endpoint, new CallHeader().reset(1, 7).setDeadline(99, Long.MAX_VALUE), known, true);
      byte[] cut = Arrays.copyOf(known, 4);
      assertSilent(endpoint, new CallHeader().reset(1, 7), cut, true);
      // these cost the connection, silently
      assertSilent(endpoint, null, cut, false);
      try (RawClient client = endpoint.connect()) {
        int begin = client.beginFrame();
        new CallHeader().reset(1, 7).encode(client.out);
        client.out.writeBytes(known, 0, known.length);
        client.endFrame(begin).flush();
        assertEquals(0, client.readToEnd(), "no HELLO, but no answer either");
      }
      try (RawClient client = endpoint.connect()) {
        client.raw(known).flush();
        assertEquals(0, client.readToEnd(), "not framed");
      }
      endpoint.assertServes();
    }
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.frame.max", "64K")) {
      byte[] known = Arrays.copyOf(oneway("ping"), 100_000);
      assertSilent(endpoint, null, known, false);
      assertSilent(endpoint, new CallHeader().reset(1, 7), known, false);
    }
  }

  private static byte[] oneway(String method) {
    ByteWriter out = new ByteWriter();
    MessageHeader.encode(
        out, MessageHeader.COMPACT, MessageHeader.ONEWAY, 1, method.getBytes(UTF_8));
    return out.writeByte(0).toByteArray();
  }

  /** Sends a message, and a call behind it if the connection is to survive. */
  private static void assertSilent(
      EndpointFixture endpoint, CallHeader header, byte[] message, boolean survives)
      throws Exception {
    try (RawClient client = header == null ? endpoint.connect() : endpoint.greeted()) {
      int begin = client.beginFrame();
      if (header != null) {
        header.encode(client.out);
      }
      client.out.writeBytes(message, 0, message.length);
      client.endFrame(begin);
      if (survives) {
        client.call(99, "ping", EndpointFixture.ping(1)).flush();
        assertEquals(99, client.readReply(), "the first bytes that come");
      } else {
        client.flush();
        assertEquals(0, client.readToEnd());
      }
    }
  }

  @Test
  void theSystemClassHasItsOwnWorkers() throws Exception {
    try (EndpointFixture endpoint =
            EndpointFixture.start("rpc.workers", "1", "rpc.queue.calls", "1");
        RawClient client = endpoint.greeted()) {
      for (int i = 0; i < 10; i++) {
        client.call(i, "scan", EndpointFixture.scan("t" + i));
      }
      client.flush();
      for (int i = 0; i < 8; i++) {
        client.readReply();
        assertEquals(ErrorCode.BUSY, client.reply.refusal().code());
      }
      client.call(100, "settings", new ServerService.settings_args()).flush();
      assertEquals(100, client.readReply());
      assertFalse(client.reply.isRefused());
      client.call(101, "lookup", EndpointFixture.lookup("0", new byte[] {1})).flush();
      assertEquals(101, client.readReply());
      assertFalse(client.reply.isRefused());
      client.call(102, "scan", EndpointFixture.scan("0")).flush();
      EndpointFixture.await(() -> endpoint.service.scanOrder.contains("0"));
      endpoint.service.scanPermits.release(3);
      for (int i = 0; i < 3; i++) {
        client.readReply();
        assertFalse(client.reply.isRefused());
      }
      assertTrue(endpoint.service.lookupThreads.take().startsWith("rpc-system-"));
    }
  }

  @Test
  void pipelinedCallsOfOneDoNotPassTheOthers() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.selectors", "1");
        RawClient greedy = endpoint.greeted();
        RawClient modest = endpoint.greeted()) {
      int calls = 20_000;
      for (int i = 0; i < calls; i++) {
        greedy.call(i, "ping", EndpointFixture.ping(1));
      }
      Future<?> reading;
      ExecutorService reader = Executors.newSingleThreadExecutor();
      try {
        reading =
            reader.submit(
                () -> {
                  for (int i = 0; i < calls; i++) {
                    greedy.readReply();
                  }
                  return null;
                });
        greedy.flush();
        modest.call(1, "ping", EndpointFixture.ping(1)).flush();
        assertEquals(1, modest.readReply());
        reading.get(20, TimeUnit.SECONDS);
      } finally {
        reader.shutdownNow();
      }
    }
  }

  @Test
  void aPortThatIsTakenIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      IOException e =
          assertThrows(IOException.class, () -> EndpointFixture.start("rpc.port", port).close());
      assertTrue(e.getMessage().contains("127.0.0.1:" + port), e.getMessage());
      assertTrue(e.getMessage().contains("in use"), e.getMessage());
    }
    IOException e =
        assertThrows(
            IOException.class,
            () -> EndpointFixture.start("rpc.bind.address", "no.such.host.invalid").close());
    assertTrue(e.getMessage().contains("no.such.host.invalid"), e.getMessage());
  }

  @Test
  void serverTypesThatAreNotThereAreRefused() throws Exception {
    for (String type : List.of("sasl")) {
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  new RpcServer(
                      Settings.of(Map.of("rpc.server.type", type)),
                      new Methods(),
                      Clock.system(),
                      "",
                      1));
      assertTrue(e.getMessage().contains(type), e.getMessage());
    }
    for (String type : List.of("", "custom_hs_ha")) {
      try (EndpointFixture endpoint = EndpointFixture.start("rpc.server.type", type)) {
        endpoint.assertServes();
      }
    }
  }
}
