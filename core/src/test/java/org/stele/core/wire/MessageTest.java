package org.stele.core.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteRequest;

class MessageTest {
  @ParameterizedTest
  @ValueSource(ints = {MessageHeader.COMPACT, MessageHeader.BINARY})
  void headersAreThoseOfLibthrift(int protocol) throws Exception {
    for (int sequence : new int[] {0, 1, 127, 128, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      for (byte type = TMessageType.CALL; type <= TMessageType.ONEWAY; type++) {
        TMemoryBuffer buffer = new TMemoryBuffer(100);
        TProtocol theirs =
            protocol == MessageHeader.COMPACT
                ? new TCompactProtocol(buffer)
                : new TBinaryProtocol(buffer);
        theirs.writeMessageBegin(new TMessage("S:méthod", type, sequence));
        byte[] bytes = Arrays.copyOf(buffer.getArray(), buffer.length());

        ByteWriter ours = new ByteWriter();
        MessageHeader.encode(ours, protocol, type, sequence, "S:méthod".getBytes(UTF_8));
        assertArrayEquals(bytes, ours.toByteArray());

        MessageHeader header = new MessageHeader();
        header.decode(bytes, 0, bytes.length);
        assertEquals(protocol, header.protocol());
        assertEquals(type, header.type());
        assertEquals(sequence, header.sequenceId());
        assertEquals("S:méthod", header.name());
        assertEquals(bytes.length, header.bodyOffset());
        for (int cut = 0; cut < bytes.length; cut++) {
          int length = cut;
          assertThrows(MalformedBytesException.class, () -> header.decode(bytes, 0, length));
        }
      }
    }
  }

  @Test
  void lyingNamesAreRefused() {
    for (int claim : new int[] {-1, 0x7fffffff, 0x40000000, 5}) {
      byte[] binary =
          new ByteWriter().writeInt(0x80010001).writeInt(claim).writeInt(0).toByteArray();
      assertThrows(
          MalformedBytesException.class,
          () -> new MessageHeader().decode(binary, 0, binary.length));
      byte[] compact =
          new ByteWriter()
              .writeByte(0x82)
              .writeByte(0x21)
              .writeVarint(1)
              .writeVarint(claim)
              .toByteArray();
      assertThrows(
          MalformedBytesException.class,
          () -> new MessageHeader().decode(compact, 0, compact.length));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {MessageHeader.COMPACT, MessageHeader.BINARY})
  void errorsFitTheResultOfAnyMethod(int protocol) throws Exception {
    ByteWriter out = new ByteWriter();
    new StructWriter()
        .writeError(out, protocol, SteleErrors.toThrift(SteleException.busy("full", 5)));
    ServerService.ping_result ping = new ServerService.ping_result();
    new StructReader().read(protocol, out.array(), 0, out.length(), ping);
    assertEquals(5, ping.getError().getRetryAfterMs());
    TabletService.write_result write = new TabletService.write_result();
    new StructReader().read(protocol, out.array(), 0, out.length(), write);
    assertEquals(ErrorCode.BUSY, SteleErrors.fromThrift(write.getError()).code());
  }

  @Test
  void exceptionsTravel() throws Exception {
    ByteWriter out = new ByteWriter();
    new StructWriter()
        .writeException(
            out,
            MessageHeader.BINARY,
            new TApplicationException(TApplicationException.UNKNOWN_METHOD, "no x"));
    TApplicationException read =
        StructReader.readException(MessageHeader.BINARY, out.array(), 0, out.length());
    assertEquals(TApplicationException.UNKNOWN_METHOD, read.getType());
    assertEquals("no x", read.getMessage());
  }

  @Test
  void anIncompleteStructureLeavesNothingBehind() throws Exception {
    ByteWriter out = new ByteWriter().writeByte(9);
    StructWriter writer = new StructWriter();
    TabletService.write_args incomplete =
        new TabletService.write_args().setRequest(new WriteRequest());
    assertThrows(TException.class, () -> writer.write(out, MessageHeader.COMPACT, incomplete));
    assertEquals(1, out.length());

    writer.write(out, MessageHeader.COMPACT, new ServerService.ping_args().setReplySize(3));
    ServerService.ping_args read = new ServerService.ping_args();
    new StructReader().read(MessageHeader.COMPACT, out.array(), 1, out.length(), read);
    assertEquals(3, read.getReplySize());
  }

  @Test
  void byteBuffersLieInTheFrame() throws Exception {
    ByteWriter out = new ByteWriter();
    new StructWriter()
        .write(
            out,
            MessageHeader.COMPACT,
            new ServerService.ping_args().setPayload(new byte[] {1, 2, 3}).setReplySize(3));
    byte[] frame = out.toByteArray();
    ServerService.ping_args read = new ServerService.ping_args();
    new StructReader().read(MessageHeader.COMPACT, frame, 0, frame.length, read);
    assertTrue(read.bufferForPayload().array() == frame);
  }

  @Test
  void deepNestingIsRefusedAndTheReaderGoesOn() throws Exception {
    StructReader reader = new StructReader();
    for (int protocol : new int[] {MessageHeader.COMPACT, MessageHeader.BINARY}) {
      ByteWriter deep = new ByteWriter();
      for (int i = 0; i < 10_000; i++) {
        if (protocol == MessageHeader.COMPACT) {
          deep.writeByte(0x9c); // a structure, nine fields on
        } else {
          deep.writeByte(12).writeShort(9);
        }
      }
      assertThrows(
          TException.class,
          () ->
              reader.read(protocol, deep.array(), 0, deep.length(), new ServerService.ping_args()));
      ByteWriter good = new ByteWriter();
      new StructWriter().write(good, protocol, new ServerService.ping_args().setReplySize(3));
      ServerService.ping_args read = new ServerService.ping_args();
      reader.read(protocol, good.array(), 0, good.length(), read);
      assertEquals(3, read.getReplySize());
    }
  }

  @Test
  void lyingContainersReserveNothing() {
    for (int claim : new int[] {0x7fffffff, 0x40000000, -1}) {
      // createTable: splits is field 2, a list of binaries; settings field 3, a map of strings
      ByteWriter list = new ByteWriter().writeByte(0x29).writeByte(0xf8).writeVarint(claim);
      assertMalformed(MessageHeader.COMPACT, list);
      ByteWriter map = new ByteWriter().writeByte(0x3b).writeVarint(claim).writeByte(0x88);
      assertMalformed(MessageHeader.COMPACT, map);
      ByteWriter name = new ByteWriter().writeByte(0x18).writeVarint(claim);
      assertMalformed(MessageHeader.COMPACT, name);
      assertMalformed(
          MessageHeader.BINARY,
          new ByteWriter().writeByte(15).writeShort(2).writeByte(11).writeInt(claim));
      assertMalformed(
          MessageHeader.BINARY,
          new ByteWriter().writeByte(13).writeShort(3).writeByte(11).writeByte(11).writeInt(claim));
      assertMalformed(
          MessageHeader.BINARY, new ByteWriter().writeByte(11).writeShort(1).writeInt(claim));
    }
  }

  private static void assertMalformed(int protocol, ByteWriter bytes) {
    assertThrows(
        TException.class,
        () ->
            new StructReader()
                .read(
                    protocol,
                    bytes.array(),
                    0,
                    bytes.length(),
                    new org.stele.core.thrift.TableService.createTable_args()));
  }

  @Test
  void randomBytesOnlyEverThrowTException() {
    Random random = new Random(2);
    StructReader reader = new StructReader();
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = new byte[random.nextInt(60)];
      random.nextBytes(bytes);
      try {
        reader.read(
            i % 2 == 0 ? MessageHeader.COMPACT : MessageHeader.BINARY,
            bytes,
            0,
            bytes.length,
            new TabletService.scan_args());
      } catch (TException e) {
        assertTrue(e != null);
      }
    }
  }
}
