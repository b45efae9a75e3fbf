package org.stele.client.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.thrift.TException;
import org.junit.jupiter.api.Test;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.LookupRequest;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.TabletService;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.PackedCells;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.core.wire.SteleErrors;
import org.stele.core.wire.StructWriter;

/** The codec of lookups beside the generated code. */
class LookupCodecTest {
  private final Random random = new Random(5);
  private final Codec.Tools tools = new Codec.Tools();
  private final StructWriter writer = new StructWriter();

  @Test
  void argumentsAreThoseOfTheGeneratedCode() throws Exception {
    for (String table : List.of("t", "0", "table-7f3a", "k\u00e4se\u20ac", "x".repeat(300))) {
      for (int columns : new int[] {0, 1, 2, 14, 15, 16, 200}) {
        for (int length : new int[] {1, 16, 127, 128, 70_000}) {
          LookupQuery query = new LookupQuery(table, bytes(length), columns(columns));
          LookupRequest request = new LookupRequest(table, Wire.buffer(query.row()));
          if (columns > 0) {
            request.setColumns(Wire.columns(query.columns()));
          }
          ByteWriter wanted = new ByteWriter();
          writer.write(wanted, MessageHeader.COMPACT, new TabletService.lookup_args(request));
          ByteWriter encoded = new ByteWriter(1);
          LookupCodec.encode(query, encoded, tools);
          assertArrayEquals(wanted.toByteArray(), encoded.toByteArray());
        }
      }
    }
  }

  private Bytes bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return Bytes.wrap(bytes);
  }

  private List<Column> columns(int count) {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(
          random.nextBoolean()
              ? new Column(bytes(random.nextInt(200)), null)
              : new Column(bytes(random.nextInt(5)), bytes(random.nextInt(200))));
    }
    return columns;
  }

  private PackedCellsWriter packed(int cells) {
    PackedCellsWriter out = new PackedCellsWriter();
    for (int i = 0; i < cells; i++) {
      byte[] key =
          KeyCodec.encode(
              Bytes.of("row"),
              Bytes.of("fam1"),
              Bytes.of(String.format("%03x", i)),
              Bytes.EMPTY,
              77 + i % 3,
              i,
              CellType.PUT);
      byte[] value = String.format("%016x", i).getBytes(UTF_8);
      out.add(key, 0, key.length, value, 0, value.length);
    }
    return out;
  }

  /** A reply frame behind its header; one byte in front shows that offsets are kept to. */
  private byte[] reply(int protocol, TabletService.lookup_result result) throws TException {
    ByteWriter out = new ByteWriter().writeByte(9);
    MessageHeader.encode(out, protocol, MessageHeader.REPLY, 1, "lookup".getBytes(UTF_8));
    writer.write(out, protocol, result);
    return out.toByteArray();
  }

  private LookupAnswer decode(byte[] reply) throws TException {
    MessageHeader message = new MessageHeader();
    message.decode(reply, 1, reply.length - 1);
    return LookupCodec.decode("h:1", reply, message, tools);
  }

  @Test
  void everyResultIsReadAsTheGeneratedCodeReadsIt() throws Exception {
    for (int cells : new int[] {0, 1, 4, 17, 2000}) {
      for (int form = 0; form < 32; form++) {
        LookupResult result = new LookupResult();
        PackedCellsWriter packed = packed(cells);
        if (cells > 0 || (form & 1) != 0) {
          result.setPacked(Arrays.copyOf(packed.array(), packed.length()));
        }
        if ((form & 2) != 0) {
          result.setMore((form & 4) != 0);
        }
        if ((form & 8) != 0) {
          result.setPosition(bytes(200).toArray());
        }
        if ((form & 16) != 0) {
          result.setReadSequence(random.nextLong());
        }
        for (int protocol : new int[] {MessageHeader.COMPACT, MessageHeader.BINARY}) {
          LookupAnswer answer =
              decode(reply(protocol, new TabletService.lookup_result(result, null)));
          List<Cell> wanted =
              cells == 0 ? List.of() : PackedCells.decode(packed.array(), 0, packed.length());
          assertEquals(wanted, answer.cells());
          assertEquals(result.isMore(), answer.more());
        }
      }
    }
  }

  @Test
  void cellsOfTheRowAskedForShareItsBytes() throws Exception {
    Bytes row = Bytes.of("row");
    LookupCodec.encode(new LookupQuery("t", row, List.of()), new ByteWriter(), tools);
    LookupResult result = new LookupResult();
    PackedCellsWriter packed = packed(4);
    result.setPacked(Arrays.copyOf(packed.array(), packed.length()));
    byte[] reply = reply(MessageHeader.COMPACT, new TabletService.lookup_result(result, null));
    Cell first = decode(reply).cells().get(0);
    assertSame(row, first.row(), "the row was made anew");
    LookupCodec.encode(new LookupQuery("t", Bytes.of("raw"), List.of()), new ByteWriter(), tools);
    Cell again = decode(reply).cells().get(3);
    assertEquals(row, again.row());
    assertSame(first.family(), again.family(), "the family was made anew");
  }

  @Test
  void errorsAndListsOfCellsAndFieldsToComeAreReadByTheGeneratedCode() throws Exception {
    SteleException error = SteleException.busy("full", 12);
    AttemptException failure =
        assertThrows(
            AttemptException.class,
            () ->
                decode(
                    reply(
                        MessageHeader.COMPACT,
                        new TabletService.lookup_result(null, SteleErrors.toThrift(error)))));
    assertEquals(ErrorCode.BUSY, failure.code());
    assertEquals(12, failure.reply().retryAfterMillis());
    assertThrows(
        MalformedBytesException.class,
        () -> decode(reply(MessageHeader.COMPACT, new TabletService.lookup_result())));

    LookupResult plain = new LookupResult();
    plain.setMore(true);
    plain.setCells(List.of());
    assertTrue(
        decode(reply(MessageHeader.COMPACT, new TabletService.lookup_result(plain, null))).more());

    ByteWriter unknown = new ByteWriter().writeByte(9);
    MessageHeader.encode(
        unknown, MessageHeader.COMPACT, MessageHeader.REPLY, 1, "lookup".getBytes(UTF_8));
    unknown.writeBytes(new byte[] {0x0c, 0, 0x31, (byte) 0xf8, 2, 'a', 'b', 0, 0}); // 3, then 18
    assertTrue(decode(unknown.toByteArray()).more());
  }

  @Test
  void noCutOffReplyIsTakenForWhole() throws Exception {
    LookupResult result = new LookupResult();
    PackedCellsWriter packed = packed(3);
    result.setPacked(ByteBuffer.wrap(packed.array(), 0, packed.length()));
    result.setReadSequence(1L << 60);
    byte[] reply = reply(MessageHeader.COMPACT, new TabletService.lookup_result(result, null));
    for (int length = 9 + 1; length < reply.length; length++) {
      byte[] cut = Arrays.copyOf(reply, length);
      Exception e = assertThrows(Exception.class, () -> decode(cut), "cut at " + length);
      assertTrue(e instanceof TException || e instanceof MalformedBytesException, e.toString());
    }
  }
}
