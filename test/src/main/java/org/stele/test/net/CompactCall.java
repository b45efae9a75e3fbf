package org.stele.test.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;

/**
 * Writes messages of Thrift's compact protocol byte by byte, so that a test can also write ones
 * that no library writes. What is written is the structure of arguments, field by field.
 */
public final class CompactCall {
  public static final int I32 = 5;
  public static final int BINARY = 8;
  public static final int LIST = 9;
  public static final int MAP = 11;
  public static final int STRUCT = 12;

  private static final int PROTOCOL = 0x82;
  private static final int CALL = 0x21;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private CompactCall() {}

  /** Begins a call. */
  public static CompactCall of(String method) {
    return of(method.length(), method);
  }

  /** Begins a call whose method name says that it has another length than it has. */
  public static CompactCall of(int claimedLength, String method) {
    CompactCall call = new CompactCall();
    call.raw(PROTOCOL, CALL, 1).varint(claimedLength).text(method);
    return call;
  }

  /** {@code ping}, answered with a frame a little larger than {@code replySize}. */
  public static byte[] ping(byte[] payload, int replySize) {
    return of("ping").binary(1, payload).integer(1, replySize).end();
  }

  /** A scan of a whole table, as packed cells. */
  public static byte[] scan(String tableId) {
    return of("scan")
        .field(1, STRUCT)
        .binary(1, tableId.getBytes(UTF_8))
        .field(1, STRUCT)
        .stop()
        .stop()
        .end();
  }

  /** A scan that finds nothing, and for that has to look at the whole table. */
  public static byte[] vainScan(String tableId) {
    return of("scan")
        .field(1, STRUCT)
        .binary(1, tableId.getBytes(UTF_8))
        .field(1, STRUCT)
        .stop()
        .field(1, LIST)
        .raw(0x10 | STRUCT)
        .binary(1, "no such family".getBytes(UTF_8))
        .stop()
        .stop()
        .end();
  }

  public CompactCall raw(int... values) {
    for (int value : values) {
      bytes.write(value);
    }
    return this;
  }

  public CompactCall text(String text) {
    bytes.writeBytes(text.getBytes(UTF_8));
    return this;
  }

  /** An unsigned number of 32 bits. */
  public CompactCall varint(int value) {
    int rest = value;
    while ((rest & ~0x7f) != 0) {
      bytes.write(rest & 0x7f | 0x80);
      rest >>>= 7;
    }
    bytes.write(rest);
    return this;
  }

  /**
   * The head of a field.
   *
   * @param delta of its id to that of the field before, 1 to 15
   */
  public CompactCall field(int delta, int type) {
    bytes.write(delta << 4 | type);
    return this;
  }

  public CompactCall binary(int delta, byte[] value) {
    field(delta, BINARY).varint(value.length);
    bytes.writeBytes(value);
    return this;
  }

  public CompactCall integer(int delta, int value) {
    return field(delta, I32).varint(value << 1 ^ value >> 31);
  }

  /** The end of a structure. */
  public CompactCall stop() {
    bytes.write(0);
    return this;
  }

  /** The end of the arguments, and the message. */
  public byte[] end() {
    return stop().toBytes();
  }

  /** The message as it is, which may be cut short. */
  public byte[] toBytes() {
    return bytes.toByteArray();
  }
}
