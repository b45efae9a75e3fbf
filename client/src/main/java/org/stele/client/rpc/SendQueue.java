package org.stele.client.rpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.stele.core.net.Link;

/**
 * Frames that wait to be written, and those being written. Callers append under the connection's
 * lock to one half; whoever has the writing role owns the other half and swaps them under the lock,
 * so that everything that gathered goes out together.
 *
 * <p>Bounded in bytes; a frame that alone is larger is taken when nothing else waits.
 */
final class SendQueue {
  static final long MAX_BYTES = 64 << 20;
  private static final int KEPT_BYTES = 1 << 20;
  private static final int STAGING_BYTES = 128 << 10;

  // Guarded by the connection's lock.
  private byte[] gathering = new byte[4096];
  private int gathered;

  // Owned by the writing role.
  private byte[] sending = new byte[4096];
  private int sendingLength;
  private int sent;

  /**
   * Heap bytes are copied through it: the JDK would keep a direct buffer as large as each write.
   */
  private final ByteBuffer staging = ByteBuffer.allocateDirect(STAGING_BYTES).limit(0);

  /** Under the lock: whether there is room for a frame. */
  boolean hasRoom(int bytes) {
    return gathered == 0 || (long) gathered + bytes <= MAX_BYTES;
  }

  /** Under the lock: the position at which the frame now lies in {@link #gathering()}. */
  int append(byte[] frame, int length) {
    if (length > gathering.length - gathered) {
      long wanted = Math.max((long) gathered + length, 2L * gathering.length);
      gathering = Arrays.copyOf(gathering, (int) Math.min(wanted, Integer.MAX_VALUE - 8));
    }
    System.arraycopy(frame, 0, gathering, gathered, length);
    int at = gathered;
    gathered += length;
    return at;
  }

  byte[] gathering() {
    return gathering;
  }

  /** Under the lock: whether frames wait that nobody is writing yet. */
  boolean isWaiting() {
    return gathered > 0;
  }

  /**
   * Under the lock, with the writing role and all written: takes what gathered, if anything did.
   */
  boolean swap() {
    if (gathered == 0) {
      return false;
    }
    byte[] emptied = sending.length > KEPT_BYTES ? new byte[4096] : sending;
    sending = gathering;
    sendingLength = gathered;
    sent = 0;
    gathering = emptied;
    gathered = 0;
    return true;
  }

  /**
   * With the writing role: writes as much as the socket takes.
   *
   * @return whether all is written
   */
  boolean write(Link link) throws IOException {
    while (true) {
      if (!staging.hasRemaining()) {
        if (sent == sendingLength) {
          return link.flush();
        }
        int count = Math.min(staging.capacity(), sendingLength - sent);
        staging.clear().put(sending, sent, count).flip();
        sent += count;
      }
      link.write(staging);
      if (staging.hasRemaining()) {
        return false;
      }
    }
  }
}
