package org.stele.client.rpc;

import java.util.List;
import org.apache.thrift.TException;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.TabletService;
import org.stele.core.wire.MessageHeader;

/**
 * Writes the arguments of a lookup and reads its result without the generated structures, since a
 * lookup costs little else: bytes in the compact protocol, equal to those that the generated code
 * writes (tested against it). A result that is not as our servers write it is read by the generated
 * code.
 *
 * <pre>
 *   arguments = 1c request 00
 *   request   = 18 table id, 18 row, [19 count column*] 00      each text: length (varint) bytes
 *   column    = 18 family [18 qualifier] 00
 *   result    = 0c 00 success 00
 *   success   = [18 packed] [21 or 22, 11 or 12: more] [18 position] [16 read sequence] 00
 * </pre>
 *
 * A field's first byte is the difference of its number to that of the one before, and its type.
 */
final class LookupCodec {
  // Types of the compact protocol.
  private static final int TRUE = 1;
  private static final int FALSE = 2;
  private static final int I64 = 6;
  private static final int BINARY = 8;
  private static final int LIST = 9;
  private static final int STRUCT = 12;

  private static final int NEXT = 1 << 4;
  private static final int STOP = 0;

  /** A list of more has its count behind its first byte. */
  private static final int SHORT_LIST = 14;

  private static final int PACKED = 1;
  private static final int MORE = 3;
  private static final int POSITION = 4;
  private static final int READ_SEQUENCE = 5;

  private LookupCodec() {}

  static void encode(LookupQuery query, ByteWriter out, Codec.Tools tools) {
    out.writeByte(NEXT | STRUCT);
    out.writeByte(NEXT | BINARY).writeUtf8String(query.tableId());
    out.writeByte(NEXT | BINARY).writeByteString(query.row().unsafeArray());
    List<Column> columns = query.columns();
    if (!columns.isEmpty()) {
      encode(columns, out);
    }
    out.writeByte(STOP).writeByte(STOP);
    tools.cells().expectRow(query.row()); // the answer is most likely decoded with these tools
  }

  private static void encode(List<Column> columns, ByteWriter out) {
    int count = columns.size();
    out.writeByte(NEXT | LIST);
    if (count <= SHORT_LIST) {
      out.writeByte(count << 4 | STRUCT);
    } else {
      out.writeByte(0xf0 | STRUCT).writeVarint(count);
    }
    for (Column column : columns) {
      out.writeByte(NEXT | BINARY).writeByteString(column.family().unsafeArray());
      Bytes qualifier = column.qualifier();
      if (qualifier != null) {
        out.writeByte(NEXT | BINARY).writeByteString(qualifier.unsafeArray());
      }
      out.writeByte(STOP);
    }
  }

  static LookupAnswer decode(String server, byte[] reply, MessageHeader message, Codec.Tools tools)
      throws TException {
    LookupAnswer answer = decodeUsual(reply, message, tools);
    return answer != null ? answer : decodeAny(server, reply, message, tools);
  }

  /** Null: it is not as our servers write it. */
  private static @Nullable LookupAnswer decodeUsual(
      byte[] reply, MessageHeader message, Codec.Tools tools) {
    ByteReader in = tools.bytes();
    in.reset(reply, message.bodyOffset(), reply.length - message.bodyOffset());
    if (message.protocol() != MessageHeader.COMPACT
        || in.remaining() < 2
        || in.readByte() != STRUCT
        || in.readByte() != 0) {
      return null;
    }
    int packedAt = 0;
    int packedLength = 0;
    boolean more = false;
    int field = 0;
    while (true) {
      int begin = in.readUnsignedByte();
      if (begin == STOP) {
        break;
      }
      field += begin >>> 4;
      switch (begin & 0xf | field << 4) {
        case BINARY | PACKED << 4 -> {
          packedLength = in.readLength();
          packedAt = in.position();
          in.skip(packedLength);
        }
        case TRUE | MORE << 4 -> more = true;
        case FALSE | MORE << 4 -> more = false;
        case BINARY | POSITION << 4 -> in.skip(in.readLength());
        case I64 | READ_SEQUENCE << 4 -> in.readVarlong();
        default -> {
          return null;
        }
      }
    }
    if (in.readUnsignedByte() != STOP) {
      return null;
    }
    List<Cell> cells =
        packedLength == 0 ? List.of() : tools.cells().read(reply, packedAt, packedLength);
    return new LookupAnswer(cells, more);
  }

  private static LookupAnswer decodeAny(
      String server, byte[] reply, MessageHeader message, Codec.Tools tools) throws TException {
    TabletService.lookup_result result = new TabletService.lookup_result();
    tools.read(reply, message, result);
    Wire.check(server, result.getError());
    LookupResult success = TabletCalls.present(result.getSuccess());
    return new LookupAnswer(Wire.cells(success.bufferForPacked()), success.isMore());
  }
}
