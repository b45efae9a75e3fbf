package org.stele.core.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;

/**
 * The begin of a Thrift message in a byte array: protocol, type, sequence number, and where the
 * method's name and the structure lie. Read without making a string; one object is reused. Not
 * thread-safe.
 */
public final class MessageHeader {
  /** First byte of a message of the compact protocol. */
  public static final int COMPACT = 0x82;

  /** First byte of a message of the strict binary protocol. */
  public static final int BINARY = 0x80;

  /** Message types, as Thrift numbers them. */
  public static final int CALL = 1;

  public static final int REPLY = 2;
  public static final int EXCEPTION = 3;
  public static final int ONEWAY = 4;

  private static final int VERSION = 1;

  private final ByteReader reader = new ByteReader();

  private byte[] array = new byte[0];
  private int protocol;
  private int type;
  private int sequenceId;
  private int nameOffset;
  private int nameLength;
  private int bodyOffset;

  /** Whether {@code firstByte} begins a message of a protocol that this reads. */
  public static boolean isProtocol(int firstByte) {
    return firstByte == COMPACT || firstByte == BINARY;
  }

  /**
   * Reads the begin of a message.
   *
   * @throws MalformedBytesException if it is not one
   */
  public void decode(byte[] frame, int offset, int length) {
    reader.reset(frame, offset, length);
    type = CALL;
    array = frame;
    protocol = reader.readUnsignedByte();
    if (protocol == COMPACT) {
      int versionAndType = reader.readUnsignedByte();
      requireVersion(versionAndType & 0x1f);
      type = versionAndType >>> 5;
      sequenceId = (int) reader.readVarlong();
      nameLength = reader.readLength();
    } else if (protocol == BINARY) {
      requireVersion(reader.readUnsignedByte());
      type = reader.readUnsignedShort() & 0xff;
      nameLength = reader.readInt();
    } else {
      throw new MalformedBytesException(
          "a message begins with 82 (compact) or 80 (binary), not "
              + Integer.toHexString(protocol));
    }
    nameOffset = reader.position();
    reader.skip(nameLength);
    if (protocol == BINARY) {
      sequenceId = reader.readInt();
    }
    bodyOffset = reader.position();
    if (type < CALL || type > ONEWAY) {
      throw new MalformedBytesException("there is no message type " + type);
    }
  }

  /** Forgets the message read last: it is a call without name, and its sequence number is 0. */
  public void clear() {
    type = CALL;
    nameOffset = 0;
    nameLength = 0;
    sequenceId = 0;
  }

  private static void requireVersion(int version) {
    if (version != VERSION) {
      throw new MalformedBytesException(
          "version " + version + " of the Thrift protocol, known is 1");
    }
  }

  /** Appends the begin of a message; the structure follows. */
  public static void encode(
      ByteWriter out, int protocol, int type, int sequenceId, byte[] nameUtf8) {
    if (protocol == COMPACT) {
      out.writeByte(COMPACT).writeByte(type << 5 | VERSION).writeVarint(sequenceId);
      out.writeByteString(nameUtf8);
    } else {
      out.writeByte(BINARY).writeByte(VERSION).writeShort(type);
      out.writeInt(nameUtf8.length).writeBytes(nameUtf8).writeInt(sequenceId);
    }
  }

  /** {@link #COMPACT} or {@link #BINARY}. */
  public int protocol() {
    return protocol;
  }

  /** {@link #CALL}, {@link #REPLY}, {@link #EXCEPTION} or {@link #ONEWAY}. */
  public int type() {
    return type;
  }

  /** Whether nobody waits for an answer; told also of a message of which only that was read. */
  public boolean isOneway() {
    return type == ONEWAY;
  }

  public int sequenceId() {
    return sequenceId;
  }

  public int nameOffset() {
    return nameOffset;
  }

  public int nameLength() {
    return nameLength;
  }

  /** Where the structure begins. */
  public int bodyOffset() {
    return bodyOffset;
  }

  /** The method's name, with its service in front if the caller multiplexes. */
  public String name() {
    return new String(array, nameOffset, nameLength, UTF_8);
  }
}
