package org.stele.core.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * What stands in front of the Thrift message of a reply (docs/formats/wire.md has the byte
 * diagram): which call it answers, and what the server's clock says. The server writes with the
 * static methods; the client reads into one object that it reuses. Not thread-safe.
 *
 * <pre>
 *   header  = C5 01 N(u16) flags(u16) call id(u64) boot id(u64) server monotonic nanos(u64) [HELLO] [REFUSED]
 *   HELLO   = version(u16) features(u64) frame max(u32) n(u8) instance id
 *   REFUSED = error code(u8) retry-after ms(u32) n(u16) message; no Thrift message follows
 * </pre>
 */
public final class ReplyHeader {
  /** Answers a HELLO; no Thrift message follows. */
  public static final int HELLO = 0x0001;

  /** Instead of a Thrift message, the header itself has the error. */
  public static final int REFUSED = 0x0002;

  private static final int KNOWN_FLAGS = HELLO | REFUSED;

  /** Bytes of a header without HELLO and REFUSED. */
  public static final int PLAIN_BYTES = CallHeader.PREFIX_BYTES + 2 + 8 + 8 + 8;

  private static final int MAX_MESSAGE_BYTES = 4096;

  private final ByteReader reader = new ByteReader();

  private int flags;
  private long callId;
  private long bootId;
  private long serverNanos;
  private int version;
  private long features;
  private int frameMaxBytes;
  private String instanceId = "";
  private int errorNumber;
  private long retryAfterMillis;
  private String message = "";

  /** Appends the header of an answer that has a Thrift message. */
  public static void encode(ByteWriter out, long callId, long bootId, long serverNanos) {
    begin(out, 0, PLAIN_BYTES, callId, bootId, serverNanos);
  }

  /** Appends the answer to a HELLO. */
  public static void encodeHello(
      ByteWriter out,
      long callId,
      long bootId,
      long serverNanos,
      int version,
      long features,
      int frameMaxBytes,
      String instanceId) {
    byte[] id = instanceId.getBytes(UTF_8);
    if (id.length > 0xff) {
      throw new IllegalArgumentException("instance id of " + id.length + " bytes");
    }
    begin(out, HELLO, PLAIN_BYTES + 2 + 8 + 4 + 1 + id.length, callId, bootId, serverNanos);
    out.writeShort(version).writeLong(features).writeInt(frameMaxBytes);
    out.writeByte(id.length).writeBytes(id);
  }

  /** Appends a whole answer: the call was not run. */
  public static void encodeRefused(
      ByteWriter out, long callId, long bootId, long serverNanos, SteleException error) {
    byte[] text = error.getMessage() == null ? new byte[0] : error.getMessage().getBytes(UTF_8);
    int size = Math.min(text.length, MAX_MESSAGE_BYTES);
    begin(out, REFUSED, PLAIN_BYTES + 1 + 4 + 2 + size, callId, bootId, serverNanos);
    out.writeByte(error.code().number()).writeInt(error.retryAfterMillis());
    out.writeShort(size).writeBytes(text, 0, size);
  }

  private static void begin(
      ByteWriter out, int flags, int bytes, long callId, long bootId, long serverNanos) {
    out.writeByte(CallHeader.MAGIC).writeByte(CallHeader.VERSION);
    out.writeShort(bytes - CallHeader.PREFIX_BYTES).writeShort(flags);
    out.writeLong(callId).writeLong(bootId).writeLong(serverNanos);
  }

  /**
   * Reads the header at the begin of a frame.
   *
   * @return its length: the Thrift message is behind it
   * @throws MalformedBytesException if it is cut off, of another version, or has unknown flags
   */
  public int decode(byte[] frame, int offset, int length) {
    reader.reset(frame, offset, length);
    int magic = reader.readUnsignedByte();
    int headerVersion = reader.readUnsignedByte();
    if (magic != CallHeader.MAGIC || headerVersion != CallHeader.VERSION) {
      throw new MalformedBytesException(
          "a reply header begins with c501, not "
              + Integer.toHexString(magic << 8 | headerVersion));
    }
    int size = reader.readUnsignedShort();
    if (size > length - CallHeader.PREFIX_BYTES) {
      throw new MalformedBytesException(
          "a reply header of " + size + " bytes in a frame of " + length);
    }
    reader.reset(frame, offset + CallHeader.PREFIX_BYTES, size);
    flags = reader.readUnsignedShort();
    callId = reader.readLong();
    bootId = reader.readLong();
    serverNanos = reader.readLong();
    if ((flags & ~KNOWN_FLAGS) != 0) {
      throw new MalformedBytesException(
          "unknown flags " + Integer.toHexString(flags & ~KNOWN_FLAGS) + " of a reply header");
    }
    if (isHello()) {
      version = reader.readUnsignedShort();
      features = reader.readLong();
      frameMaxBytes = reader.readInt();
      instanceId = new String(reader.readBytes(reader.readUnsignedByte()), UTF_8);
    }
    if (isRefused()) {
      errorNumber = reader.readUnsignedByte();
      retryAfterMillis = reader.readInt() & 0xffff_ffffL;
      message = new String(reader.readBytes(reader.readUnsignedShort()), UTF_8);
    }
    return CallHeader.PREFIX_BYTES + size;
  }

  public boolean isHello() {
    return (flags & HELLO) != 0;
  }

  public boolean isRefused() {
    return (flags & REFUSED) != 0;
  }

  public long callId() {
    return callId;
  }

  /** Random per run of the server. */
  public long bootId() {
    return bootId;
  }

  /** The server's monotonic clock when it wrote the reply. */
  public long serverNanos() {
    return serverNanos;
  }

  /** With HELLO: the header version that both speak. */
  public int version() {
    return version;
  }

  /** With HELLO: bits of the features the server has. */
  public long features() {
    return features;
  }

  /** With HELLO: the largest frame the server takes. */
  public int frameMaxBytes() {
    return frameMaxBytes;
  }

  /** With HELLO. */
  public String instanceId() {
    return instanceId;
  }

  /** With REFUSED: why. A code that this release does not know is INTERNAL. */
  public SteleException refusal() {
    ErrorCode code = SteleErrors.fromNumber(errorNumber);
    int retryAfter = (int) Math.min(retryAfterMillis, Integer.MAX_VALUE);
    return new SteleException(code, message, null, retryAfter, null, 0);
  }
}
