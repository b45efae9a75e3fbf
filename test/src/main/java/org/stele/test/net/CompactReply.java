package org.stele.test.net;

/**
 * What a message of the compact protocol answers, as far as a test of the wire wants to know.
 *
 * @param kind of the answer
 * @param errorCode number of the {@code ErrorCode}, 0 if the answer is no {@code SteleError}
 */
public record CompactReply(Kind kind, int errorCode) {
  public static final int BUSY = 1;

  private static final int PROTOCOL = 0x82;
  private static final int REPLY = 2;
  private static final int EXCEPTION = 3;

  /** First byte of field 1, a structure: the SteleError that every method may throw. */
  private static final int ERROR_FIELD = 1 << 4 | CompactCall.STRUCT;

  public enum Kind {
    /** What the method returns. */
    RESULT,
    /** A {@code SteleError}. */
    ERROR,
    /** A {@code TApplicationException}: the message was none that the server could run. */
    PROTOCOL_EXCEPTION
  }

  public static CompactReply of(byte[] message) {
    int type = message[1] >> 5 & 7;
    if ((message[0] & 0xff) != PROTOCOL || type != REPLY && type != EXCEPTION) {
      throw new AssertionError("not an answer in the compact protocol");
    }
    if (type == EXCEPTION) {
      return new CompactReply(Kind.PROTOCOL_EXCEPTION, 0);
    }
    int body = 3 + 1 + message[3]; // sequence number 1 and short names take one byte each
    if ((message[body] & 0xff) != ERROR_FIELD) {
      return new CompactReply(Kind.RESULT, 0);
    }
    return new CompactReply(Kind.ERROR, message[body + 2] >> 1);
  }
}
