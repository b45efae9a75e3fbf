package org.stele.core.wire;

import java.util.ArrayList;
import java.util.List;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Mutation;
import org.stele.core.data.Update;

/**
 * Mutations as one byte string (docs/formats/wire.md has a worked example):
 *
 * <pre>
 *   packed mutations = version (1 byte, 01) count (varint) mutation*
 *   mutation         = row count (varint) update*
 *   update           = type (1) flags (1) [family] [qualifier] [visibility] [timestamp (8)] [value]
 *   flags            = bits 0-4 set: family, qualifier, visibility, timestamp, value are there; else empty, or
 *                      given by the server
 *   row, family, …   = length (varint) bytes
 * </pre>
 *
 * Types are the codes of {@link CellType}; a timestamp is big-endian.
 */
public final class PackedMutations {
  private static final int VERSION = 1;
  private static final int FAMILY = 1;
  private static final int QUALIFIER = 1 << 1;
  private static final int VISIBILITY = 1 << 2;
  private static final int TIMESTAMP = 1 << 3;
  private static final int VALUE = 1 << 4;

  private PackedMutations() {}

  public static byte[] encode(List<Mutation> mutations) {
    ByteWriter out = new ByteWriter(1024);
    out.writeByte(VERSION).writeVarint(mutations.size());
    for (Mutation mutation : mutations) {
      writeBytes(out, mutation.row());
      out.writeVarint(mutation.updates().size());
      mutation.updates().forEach(update -> encode(out, update));
    }
    return out.toByteArray();
  }

  private static void encode(ByteWriter out, Update update) {
    Long timestamp = update.timestamp();
    int flags =
        (update.family().isEmpty() ? 0 : FAMILY)
            | (update.qualifier().isEmpty() ? 0 : QUALIFIER)
            | (update.visibility().isEmpty() ? 0 : VISIBILITY)
            | (timestamp == null ? 0 : TIMESTAMP)
            | (update.value().isEmpty() ? 0 : VALUE);
    out.writeByte(update.type().code()).writeByte(flags);
    writeIf(out, flags & FAMILY, update.family());
    writeIf(out, flags & QUALIFIER, update.qualifier());
    writeIf(out, flags & VISIBILITY, update.visibility());
    if (timestamp != null) {
      out.writeLong(timestamp);
    }
    writeIf(out, flags & VALUE, update.value());
  }

  /**
   * Decodes and checks mutations: each row and update, and all together, are within {@link
   * org.stele.core.data.DataLimits}.
   *
   * @throws MalformedBytesException if the bytes are not packed mutations
   * @throws org.stele.core.data.LimitException if a limit is broken
   * @throws IllegalArgumentException if a mutation breaks a rule
   */
  public static List<Mutation> decode(byte[] packed, int offset, int length) {
    ByteReader in = new ByteReader(packed, offset, length);
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new MalformedBytesException(
          "packed mutations of version " + version + ", known is " + VERSION);
    }
    int count = countWithin(in, 2);
    List<Mutation> mutations = new ArrayList<>(count);
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      Mutation mutation = Mutation.of(Bytes.wrap(in.readByteString()));
      int updates = countWithin(in, 2);
      for (int j = 0; j < updates; j++) {
        mutation.add(decodeUpdate(in));
      }
      bytes = mutation.addedTo(bytes);
      mutations.add(mutation);
    }
    if (in.hasRemaining()) {
      throw new MalformedBytesException(
          in.remaining() + " bytes are left behind the last mutation");
    }
    return mutations;
  }

  private static Update decodeUpdate(ByteReader in) {
    CellType type = CellType.ofCode(in.readUnsignedByte());
    if (type == CellType.DELETE_CELL) {
      throw new MalformedBytesException("an update of the reserved type " + type);
    }
    int flags = in.readUnsignedByte();
    if (flags >= VALUE << 1) {
      throw new MalformedBytesException("unknown flags " + flags + " of an update");
    }
    return new Update(
        type,
        readIf(in, flags & FAMILY),
        readIf(in, flags & QUALIFIER),
        readIf(in, flags & VISIBILITY),
        (flags & TIMESTAMP) == 0 ? null : (Long) in.readLong(),
        readIf(in, flags & VALUE));
  }

  /**
   * A count of things that need at least {@code minBytes} each, checked before anything is
   * reserved.
   */
  private static int countWithin(ByteReader in, int minBytes) {
    int count = in.readVarint();
    if (count > in.remaining() / minBytes) {
      throw new MalformedBytesException(
          "a count of " + count + " with " + in.remaining() + " bytes left");
    }
    return count;
  }

  private static void writeIf(ByteWriter out, int flag, Bytes bytes) {
    if (flag != 0) {
      writeBytes(out, bytes);
    }
  }

  private static void writeBytes(ByteWriter out, Bytes bytes) {
    out.writeByteString(bytes.unsafeArray());
  }

  private static Bytes readIf(ByteReader in, int flag) {
    return flag == 0 ? Bytes.EMPTY : Bytes.wrap(in.readByteString());
  }
}
