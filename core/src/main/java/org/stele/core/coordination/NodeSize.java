package org.stele.core.coordination;

/** The most that a node may hold. */
final class NodeSize {
  static final int MAX_BYTES = 64 << 10;

  private NodeSize() {}

  static byte[] checked(String what, byte[] bytes) {
    if (bytes.length > MAX_BYTES) {
      throw new CoordinationException(
          CoordinationException.Reason.MALFORMED,
          "the node of "
              + what
              + " would have "
              + bytes.length
              + " bytes, the limit is "
              + MAX_BYTES,
          null);
    }
    return bytes;
  }
}
