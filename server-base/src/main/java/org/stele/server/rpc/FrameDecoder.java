package org.stele.server.rpc;

import java.util.Arrays;

/**
 * Cuts what one connection sent into frames (four bytes length, big-endian, and that many bytes),
 * and keeps what is not taken yet: a frame that is not whole, or whole ones that must wait. A
 * buffer grows with the bytes that really arrived, never with what a length claims.
 *
 * <p>Small remainders are put in front of the next read in the loop's buffer. A frame larger than
 * that buffer is gathered in an array of its own, which then belongs to its call. Used by the
 * connection's selector thread only.
 */
final class FrameDecoder {
  static final int LENGTH_BYTES = 4;

  /** Takes frames. */
  interface Sink {
    /** Whether the frame that begins with this byte may be taken now; false leaves it here. */
    boolean accepts(int firstByte);

    /**
     * A whole frame.
     *
     * @param owned whether the array is the frame's own: the call may keep it
     */
    void frame(byte[] array, int offset, int length, boolean owned);

    /** The bytes are not frames; nothing more is taken from them. */
    void notFrames(byte[] array, int offset, int length, String reason);

    /**
     * A frame is longer than is taken, and this is its begin, without its length. Nothing more is
     * taken from the connection; or the sink stays open and gets a longer begin when more is there.
     */
    void tooLarge(byte[] array, int offset, int length, String reason);

    /** False ends the cutting: the connection is closed or closing. */
    boolean isOpen();
  }

  /** A greater length is none: bytes of TLS, HTTP and the like are read as one. */
  private static final int MAX_POSSIBLE_BYTES = 256 << 20;

  private static final byte[] NOTHING = new byte[0];

  private final int maxBytes;
  private final ByteBudget budget;

  /** The bytes kept are those from {@link #keptFrom} to {@link #keptTo}. */
  private byte[] kept = NOTHING;

  private int keptFrom;
  private int keptTo;

  /** Of the gathered frame with its length bytes, which begin the array; 0: none is gathered. */
  private int gatheredTotal;

  private boolean frameWaits;

  FrameDecoder(int maxBytes, ByteBudget budget) {
    this.maxBytes = maxBytes;
    this.budget = budget;
  }

  /** Bytes reserved here. */
  int heldBytes() {
    return kept.length;
  }

  boolean isEmpty() {
    return keptFrom == keptTo;
  }

  /** Whether a whole frame is kept, which was not accepted: reading more is of no use. */
  boolean frameWaits() {
    return frameWaits;
  }

  /** Bytes of a frame are there, and more of it must come. */
  boolean isPartial() {
    return !isEmpty() && !frameWaits;
  }

  /** Whether a large frame is gathered: the next bytes belong to it. */
  boolean isGathering() {
    return gatheredTotal > 0;
  }

  /**
   * How many bytes the gathered frame takes in one read: what fits, or what its array may grow by.
   */
  int gatherable(int bufferLength) {
    int room = keptTo < kept.length ? kept.length - keptTo : gatheredTotal - keptTo;
    return Math.min(room, bufferLength);
  }

  /** How much more may be reserved here by one read into a buffer of so many bytes. */
  int nextReservation(int bufferLength) {
    if (!isGathering()) {
      return bufferLength;
    }
    return keptTo < kept.length ? 0 : grownLength(bufferLength) - kept.length;
  }

  private int grownLength(int count) {
    long wanted = Math.max((long) keptTo + count, 2L * kept.length);
    return (int) Math.min(wanted, gatheredTotal);
  }

  /** Adds bytes that were read to the gathered frame, at most {@link #gatherable} of them. */
  void gather(byte[] buffer, int count, Sink sink) {
    if (count > kept.length - keptTo) {
      replace(Arrays.copyOf(kept, grownLength(count)));
    }
    System.arraycopy(buffer, 0, kept, keptTo, count);
    keptTo += count;
    if (keptTo == gatheredTotal) {
      offerGathered(sink);
    }
  }

  private void offerGathered(Sink sink) {
    frameWaits = !sink.accepts(kept[LENGTH_BYTES] & 0xff);
    if (!frameWaits) {
      byte[] frame = kept;
      int length = keptTo - LENGTH_BYTES;
      drop();
      sink.frame(frame, LENGTH_BYTES, length, true);
    }
  }

  /** Moves what is kept of a small frame to the begin of the loop's buffer; returns how much. */
  int moveTo(byte[] buffer) {
    int count = keptTo - keptFrom;
    System.arraycopy(kept, keptFrom, buffer, 0, count);
    drop();
    return count;
  }

  /** Offers whole frames that were not accepted before. */
  void offerKept(int loopBufferLength, Sink sink) {
    if (!frameWaits) {
      return;
    }
    if (isGathering()) {
      offerGathered(sink);
      return;
    }
    byte[] array = kept;
    int end = keptTo;
    int from = cut(array, keptFrom, end, sink);
    if (from == end || !sink.isOpen()) {
      drop();
    } else if (frameWaits) {
      keptFrom = from;
    } else {
      keep(array, from, end, loopBufferLength);
    }
  }

  /** Hands the frames at the begin of the loop's buffer to the sink and keeps the rest. */
  void offer(byte[] buffer, int end, Sink sink) {
    int from = cut(buffer, 0, end, sink);
    if (from < end && sink.isOpen()) {
      keep(buffer, from, end, buffer.length);
    }
  }

  /** Returns where the first frame begins that was not taken. */
  private int cut(byte[] array, int begin, int end, Sink sink) {
    int from = begin;
    frameWaits = false;
    while (end - from >= LENGTH_BYTES && sink.isOpen()) {
      int length = lengthAt(array, from);
      int there = end - from - LENGTH_BYTES;
      if (length <= 0 || length >= MAX_POSSIBLE_BYTES) {
        sink.notFrames(array, from, end - from, reason(length));
        break;
      }
      boolean tooLarge = length > maxBytes;
      if (there < (tooLarge ? 1 : length)) {
        break;
      }
      if (!sink.accepts(array[from + LENGTH_BYTES] & 0xff)) {
        frameWaits = true;
        break;
      }
      if (tooLarge) {
        sink.tooLarge(array, from + LENGTH_BYTES, there, reason(length));
        break;
      }
      sink.frame(array, from + LENGTH_BYTES, length, false);
      from += LENGTH_BYTES + length;
    }
    return from;
  }

  private void keep(byte[] array, int from, int end, int loopBufferLength) {
    gatheredTotal = 0;
    if (!frameWaits && end - from >= LENGTH_BYTES && lengthAt(array, from) <= maxBytes) {
      int total = LENGTH_BYTES + lengthAt(array, from);
      gatheredTotal = total > loopBufferLength ? total : 0;
    }
    replace(Arrays.copyOfRange(array, from, end));
    keptFrom = 0;
    keptTo = end - from;
  }

  private String reason(int length) {
    if (length <= 0) {
      return "frame length " + length;
    }
    return "frame length " + length + " is above rpc.frame.max (" + maxBytes + " bytes)";
  }

  /** Forgets everything. */
  void drop() {
    replace(NOTHING);
    keptFrom = 0;
    keptTo = 0;
    gatheredTotal = 0;
    frameWaits = false;
  }

  private void replace(byte[] array) {
    if (array.length != kept.length) {
      budget.add(array.length - (long) kept.length);
    }
    kept = array;
  }

  private static int lengthAt(byte[] array, int offset) {
    return (array[offset] & 0xff) << 24
        | (array[offset + 1] & 0xff) << 16
        | (array[offset + 2] & 0xff) << 8
        | (array[offset + 3] & 0xff);
  }
}
