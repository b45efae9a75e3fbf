package org.stele.client.rpc;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.stele.core.net.Link;
import org.stele.core.wire.ReplyHeader;

/**
 * Cuts the bytes of a connection into reply frames. A length is checked before anything is reserved
 * for it, and memory for a long frame grows with the bytes that came. Used by the thread that has
 * the connection's reading role.
 */
final class ReplyReader {
  private static final int BUFFER_BYTES = 128 << 10;
  private static final int FIRST_RESERVED_BYTES = 1 << 20;

  /** How a TLS record begins that tells a failure. */
  private static final int TLS_ALERT = 0x1503;

  private final int maxBytes;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

  /** A frame longer than the buffer that is being collected, else null. */
  private byte @Nullable [] large;

  private int largeLength;
  private int largeFilled;

  ReplyReader(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Reads what is there and appends the frames that are whole.
   *
   * @throws IOException also if the stream ended or a length is not possible
   */
  void read(Link link, List<byte[]> frames) throws IOException {
    do {
      int count = link.read(buffer);
      if (count < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (count > 0) {
        buffer.flip();
        while (takeFrame(frames)) {
          // another may be there
        }
        buffer.compact();
      }
    } while (link.hasInput());
  }

  private boolean takeFrame(List<byte[]> frames) throws IOException {
    if (large != null) {
      return continueLarge(large, frames);
    }
    if (buffer.remaining() < Integer.BYTES) {
      return false;
    }
    int length = buffer.getInt(buffer.position());
    if (length >>> 16 == TLS_ALERT) {
      throw new SSLException("the server answers with a TLS alert: it speaks TLS only (rpc.tls)");
    }
    if (length < ReplyHeader.PLAIN_BYTES || length > maxBytes) {
      throw new IOException(
          "a reply of "
              + length
              + " bytes was announced: "
              + ReplyHeader.PLAIN_BYTES
              + " to "
              + maxBytes
              + " are possible");
    }
    if (buffer.remaining() >= Integer.BYTES + length) {
      byte[] frame = new byte[length];
      buffer.getInt();
      buffer.get(frame);
      frames.add(frame);
      return true;
    }
    if (Integer.BYTES + length <= buffer.capacity()) {
      return false;
    }
    buffer.getInt();
    largeLength = length;
    largeFilled = 0;
    byte[] begun = new byte[Math.min(length, FIRST_RESERVED_BYTES)];
    large = begun;
    return continueLarge(begun, frames);
  }

  private boolean continueLarge(byte[] begun, List<byte[]> frames) {
    byte[] target = begun;
    int count = Math.min(buffer.remaining(), largeLength - largeFilled);
    if (largeFilled + count > target.length) {
      target = Arrays.copyOf(target, (int) Math.min(largeLength, 2L * target.length));
      large = target;
    }
    buffer.get(target, largeFilled, count);
    largeFilled += count;
    if (largeFilled < largeLength) {
      return false;
    }
    frames.add(target.length == largeLength ? target : Arrays.copyOf(target, largeLength));
    large = null;
    return true;
  }
}
