package org.stele.test.cases;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.DataLimits;
import org.stele.core.data.Mutation;
import org.stele.core.thrift.ErrorCode;
import org.stele.core.thrift.MutationFailure;
import org.stele.core.thrift.TabletService;
import org.stele.core.wire.PackedMutations;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.RawSocket;
import org.stele.test.process.StandaloneServer;

/**
 * Mutations that no client would send, among good ones: refused before anything is logged, so that
 * nothing of their batch is readable and the server starts again after {@code kill -9}. Counts and
 * lengths that lie cost no memory: the heap is small and the server ends when it is full.
 */
class MalformedMutationIT {
  private static final String TABLE = "good";
  private static final String FUZZ = "fuzz";
  private static final int FUZZED = TestForm.count(1_500, 100_000);
  private static final int HUGE = 0x7fffffff;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final TreeSet<String> expected = new TreeSet<>();
  private int goodRows;

  /** How the server answered. */
  private record Answer(String text, boolean refused, List<MutationFailure> failures) {}

  @Test
  void theyAreRefusedBeforeTheyAreLogged() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), Map.of())) {
      server.stop().orFail();
      server.environment("STELE_SERVER_HEAP", "-Xms64m -Xmx200m");
      server.setting("memtable.bytes", "32M").setting("cache.data.bytes", "16M");
      server.setting("cache.index.bytes", "8M");
      server.startDirectly();
      try (SteleClient client = server.client()) {
        client.tables().create(TABLE, TableOptions.defaults().withSplits(List.of(Bytes.of("h"))));
        client.tables().create(FUZZ);
        String tableId = client.tables().describe(TABLE).id();
        sendMalformed(server.port(), tableId);
        sendPartlyGood(server.port(), tableId);
        sendExtremeButGood(server.port(), tableId);
        fuzz(server.port(), client.tables().describe(FUZZ).id());
        assertEquals(expected, rows(client), "before the restart");
      }
      long pid = server.pid();
      assertTrue(ProcessHandle.of(pid).isPresent(), "the server has ended");
      server.restartAfterKill();
      try (SteleClient client = server.client()) {
        assertEquals(expected, rows(client), "after kill -9");
        client.tables().flush(FUZZ);
        client.tables().compact(FUZZ);
        client.write(TABLE, Mutation.of("last").put("f", "q", "v"));
        // Times of the fuzz and of the far future do not bind the server's own.
        assertTrue(client.lookup(TABLE, "last").cells().get(0).timestamp() < 4_000_000_000_000L);
      }
    }
  }

  private static Set<String> rows(SteleClient client) {
    Set<String> rows = new TreeSet<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        rows.add(cell.row().toUtf8());
      }
    }
    return rows;
  }

  // ---- Messages

  private static byte[] write(String tableId, byte[] packed) {
    return CompactCall.of("write")
        .field(1, CompactCall.STRUCT)
        .binary(1, tableId.getBytes(UTF_8))
        .binary(1, packed)
        .stop()
        .end();
  }

  /** A write of plain mutations: the list's head and elements are given. */
  private static byte[] writePlain(String tableId, byte[] list) {
    CompactCall call =
        CompactCall.of("write")
            .field(1, CompactCall.STRUCT)
            .binary(1, tableId.getBytes(UTF_8))
            .field(2, CompactCall.LIST);
    for (byte b : list) {
      call.raw(b);
    }
    return call.stop().end();
  }

  private static Part part() {
    return new Part();
  }

  /** Bytes put together by hand. */
  private static final class Part {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Part raw(int... values) {
      for (int value : values) {
        bytes.write(value);
      }
      return this;
    }

    Part varint(long value) {
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        bytes.write((int) (rest & 0x7f | 0x80));
        rest >>>= 7;
      }
      bytes.write((int) rest);
      return this;
    }

    Part text(String text) {
      varint(text.length());
      bytes.writeBytes(text.getBytes(UTF_8));
      return this;
    }

    Part bytes(byte[] more) {
      bytes.writeBytes(more);
      return this;
    }

    byte[] end() {
      return bytes.toByteArray();
    }
  }

  /** Packed: version, count, and a good mutation of a row that must never be seen. */
  private static Part packed(long count) {
    return part().raw(1).varint(count).bytes(goodPacked("bad batch"));
  }

  private static byte[] goodPacked(String row) {
    // put (1), with family, qualifier and value (1 + 2 + 16)
    return part().text(row).varint(1).raw(1, 19).text("f").text("q").text("v").end();
  }

  /** A plain mutation: row and one put. */
  private static byte[] goodPlain(String row) {
    return part()
        .raw(0x18)
        .text(row)
        .raw(0x19, 0x1c) // a list of one structure
        .bytes(update(2))
        .raw(0)
        .end();
  }

  /** Type (zigzag), family, qualifier and value. */
  private static byte[] update(int zigzagType) {
    return part()
        .raw(0x15, zigzagType)
        .raw(0x18)
        .text("f")
        .raw(0x18)
        .text("q")
        .raw(0x38)
        .text("v")
        .raw(0)
        .end();
  }

  private static Part plain(int count) {
    return part().raw(count << 4 | CompactCall.STRUCT).bytes(goodPlain("bad batch"));
  }

  private Map<String, byte[]> malformed(String tableId) {
    Map<String, byte[]> bad = new LinkedHashMap<>();
    Map<String, byte[]> packed = new LinkedHashMap<>();
    packed.put("nothing", new byte[0]);
    packed.put("another version", part().raw(2).varint(1).bytes(goodPacked("bad batch")).end());
    packed.put("a huge count", packed(HUGE).end());
    packed.put("a count beyond an int", packed(1L << 40).end());
    packed.put("a count of 2^64-1", packed(-1).end());
    packed.put("a count that is too large by one", packed(2).end());
    packed.put("a count that is too small by one", packed(1).bytes(goodPacked("bad too")).end());
    packed.put("an endless number", part().raw(1).bytes(filled(11, 0x80)).end());
    packed.put("an empty row", packed(2).text("").varint(1).raw(1, 0).end());
    packed.put("a row beyond the end", packed(2).varint(1000).raw('r').end());
    packed.put("a row of huge length", packed(2).varint(HUGE).raw('r').end());
    packed.put("a row of negative length", packed(2).varint(-5).raw('r').end());
    packed.put("a huge count of updates", packed(2).text("r").varint(HUGE).raw(1, 0).end());
    packed.put("an unknown flag", packed(2).text("r").varint(1).raw(1, 32).end());
    packed.put("all flags", packed(2).text("r").varint(1).raw(1, 255).end());
    packed.put("an unknown type", packed(2).text("r").varint(1).raw(77, 0).end());
    packed.put("the reserved type", packed(2).text("r").varint(1).raw(2, 0).end());
    packed.put("type 0", packed(2).text("r").varint(1).raw(0, 0).end());
    packed.put("a value beyond the end", packed(2).text("r").varint(1).raw(1, 16).varint(9).end());
    packed.put("a row above the limit", packed(2).bytes(longRow()).end());
    packed.put("rows of many updates", rowsOfManyUpdates());
    byte[] good = PackedMutations.encode(List.of(mutation("bad batch"), mutation("bad too")));
    for (int length = 1; length < good.length; length++) {
      packed.put("cut at " + length, Arrays.copyOf(good, length));
    }
    packed.forEach((name, bytes) -> bad.put("packed: " + name, write(tableId, bytes)));

    Map<String, byte[]> plain = new LinkedHashMap<>();
    plain.put("a huge count", part().raw(0xfc).varint(HUGE).bytes(goodPlain("bad batch")).end());
    plain.put("a negative count", part().raw(0xfc).varint(0xffffffffL).end());
    plain.put("a count too large by one", plain(2).end());
    plain.put("elements of another type", part().raw(0x18).text("bad batch").end());
    plain.put("no row", plain(2).raw(0x29, 0x1c).bytes(update(2)).raw(0).end());
    plain.put("no updates", plain(2).raw(0x18).text("r").raw(0).end());
    plain.put("an empty row", plain(2).bytes(goodPlain("")).end());
    plain.put(
        "an unknown type",
        plain(2).raw(0x18).text("r").raw(0x19, 0x1c).bytes(update(198)).raw(0).end());
    plain.put(
        "the reserved type",
        plain(2).raw(0x18).text("r").raw(0x19, 0x1c).bytes(update(4)).raw(0).end());
    plain.put(
        "no type", plain(2).raw(0x18).text("r").raw(0x19, 0x1c, 0x28).text("f").raw(0, 0).end());
    plain.put("a row of huge length", plain(2).raw(0x18).varint(HUGE).raw('r').end());
    plain.put("a row of negative length", plain(2).raw(0x18).varint(0xfffffffbL).raw('r').end());
    plain.put(
        "a huge list of updates", plain(2).raw(0x18).text("r").raw(0x19, 0xfc).varint(HUGE).end());
    plain.forEach((name, bytes) -> bad.put("plain: " + name, writePlain(tableId, bytes)));

    bad.put(
        "both forms",
        CompactCall.of("write")
            .field(1, CompactCall.STRUCT)
            .binary(1, tableId.getBytes(UTF_8))
            .binary(1, packed(1).end())
            .field(1, CompactCall.LIST)
            .raw(0x0c)
            .stop()
            .end());
    bad.put(
        "neither form",
        CompactCall.of("write")
            .field(1, CompactCall.STRUCT)
            .binary(1, tableId.getBytes(UTF_8))
            .stop()
            .end());
    bad.put("no table", CompactCall.of("write").field(1, CompactCall.STRUCT).stop().end());
    bad.put("no request", CompactCall.of("write").end());
    bad.put("the metadata table", write("0", packed(1).end()));
    bad.put(
        "an unknown durability",
        CompactCall.of("write")
            .field(1, CompactCall.STRUCT)
            .binary(1, tableId.getBytes(UTF_8))
            .binary(1, packed(1).end())
            .integer(2, 99)
            .stop()
            .end());
    return bad;
  }

  private static Mutation mutation(String row) {
    return Mutation.of(row).put("f", "q", "v");
  }

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return bytes;
  }

  private static byte[] longRow() {
    int length = DataLimits.MAX_KEY_BYTES + 1;
    return part().varint(length).bytes(filled(length, 'r')).varint(1).raw(1, 0).end();
  }

  /** 300 KB, and 128 MB when each update has its row. */
  private static byte[] rowsOfManyUpdates() {
    Part packed = packed(17);
    for (int row = 0; row < 16; row++) {
      int length = 16 << 10;
      packed.varint(length).bytes(filled(length, 'r')).varint(500);
      for (int update = 0; update < 500; update++) {
        packed.raw(1, 0);
      }
    }
    return packed.end();
  }

  // ---- Sending

  private void sendMalformed(int port, String tableId) throws IOException {
    for (Map.Entry<String, byte[]> bad : malformed(tableId).entrySet()) {
      Answer answer = send(port, bad.getValue());
      boolean mayBeTaken = bad.getKey().equals("an unknown durability");
      if (mayBeTaken && !answer.refused) {
        expected.add("bad batch"); // an unknown value of an optional field is no value
      } else {
        assertTrue(answer.refused, () -> bad.getKey() + " is answered with " + answer);
      }
      sendGood(port, tableId);
    }
  }

  /** One that breaks a rule by itself fails alone, and by its place in the batch. */
  private void sendPartlyGood(int port, String tableId) throws IOException {
    byte[] batch =
        part()
            .raw(1)
            .varint(3)
            .bytes(goodPacked("partly 0"))
            .text("without updates")
            .varint(0)
            .bytes(goodPacked("partly 2"))
            .end();
    Answer answer = send(port, write(tableId, batch));
    assertEquals(1, answer.failures.size(), answer::toString);
    assertEquals(1, answer.failures.get(0).getIndex());
    assertEquals(ErrorCode.BAD_REQUEST, answer.failures.get(0).getError().getCode());
    expected.add("partly 0");
    expected.add("partly 2");
  }

  private void sendExtremeButGood(int port, String tableId) throws IOException {
    int number = 0;
    for (long time : new long[] {Long.MAX_VALUE, Long.MIN_VALUE, -1, 0}) {
      String row = "extreme " + number++;
      byte[] packed =
          PackedMutations.encode(
              List.of(
                  Mutation.of(row)
                      .put(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY, time, Bytes.of("v"))));
      Answer answer = send(port, write(tableId, packed));
      assertTrue(!answer.refused && answer.failures.isEmpty(), answer::toString);
      expected.add(row);
    }
    // The same field twice: the later one counts.
    byte[] twice =
        part()
            .raw(0x18)
            .text("first")
            .raw(0x08, 2)
            .text("twice")
            .raw(0x19, 0x1c)
            .bytes(update(2))
            .raw(0)
            .end();
    Answer answer = send(port, writePlain(tableId, part().raw(0x1c).bytes(twice).end()));
    if (!answer.refused) {
      assertEquals(List.of(), answer.failures);
      expected.add("twice");
    }
  }

  private void sendGood(int port, String tableId) throws IOException {
    String row = String.format("good %05d", goodRows++);
    boolean asPacked = goodRows % 2 == 0;
    Answer answer =
        send(
            port,
            asPacked
                ? write(tableId, PackedMutations.encode(List.of(mutation(row))))
                : writePlain(tableId, part().raw(0x1c).bytes(goodPlain(row)).end()));
    assertTrue(!answer.refused && answer.failures.isEmpty(), answer::toString);
    expected.add(row);
  }

  /** Valid writes with some bytes changed: whatever they are then, the server lives. */
  private void fuzz(int port, String tableId) throws IOException {
    Random random = new Random(seed);
    List<byte[]> valid = new ArrayList<>();
    valid.add(write(tableId, PackedMutations.encode(List.of(mutation("a"), rich("b")))));
    valid.add(
        writePlain(tableId, part().raw(0x2c).bytes(goodPlain("c")).bytes(goodPlain("d")).end()));
    int refused = 0;
    for (int i = 0; i < FUZZED; i++) {
      byte[] message = valid.get(i % valid.size()).clone();
      // The head of the message and the table's id stay, to get to the mutations.
      int from = 10 + tableId.length();
      for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
        message[from + random.nextInt(message.length - from)] = (byte) random.nextInt();
      }
      refused += send(port, message).refused ? 1 : 0;
    }
    int most = refused;
    assertTrue(most > FUZZED / 20, () -> "only " + most + " were malformed, seed " + seed);
    assertNotEquals(FUZZED, refused, "all were malformed");
  }

  private static Mutation rich(String row) {
    return Mutation.of(row)
        .put(Bytes.of("family"), Bytes.of("qualifier"), Bytes.of("vis"), 12L, Bytes.of("value"))
        .deleteColumn("f", "q")
        .deleteFamily(Bytes.of("g"), 7L)
        .deleteRow(3L);
  }

  /** Each on a connection of its own, which the server may end instead of an answer. */
  private static Answer send(int port, byte[] message) throws IOException {
    try (RawSocket socket = RawSocket.connect(port)) {
      byte[] reply;
      try {
        reply = socket.call(message, LIMIT);
      } catch (java.io.EOFException | java.net.SocketException e) {
        return new Answer("closed", true, List.of());
      }
      return read(reply);
    }
  }

  private static Answer read(byte[] reply) {
    try {
      TCompactProtocol in = new TCompactProtocol(new TMemoryInputTransport(reply));
      TMessage head = in.readMessageBegin();
      if (head.type != org.apache.thrift.protocol.TMessageType.REPLY) {
        return new Answer("exception of the protocol", true, List.of());
      }
      TabletService.write_result result = new TabletService.write_result();
      result.read(in);
      if (result.isSetError()) {
        assertNotEquals(
            ErrorCode.INTERNAL, result.getError().getCode(), result.getError()::toString);
        return new Answer(result.getError().toString(), true, List.of());
      }
      List<MutationFailure> failures = result.getSuccess().getFailures();
      return new Answer("done", false, failures == null ? List.of() : failures);
    } catch (org.apache.thrift.TException e) {
      throw new AssertionError("an answer that cannot be read", e);
    }
  }
}
