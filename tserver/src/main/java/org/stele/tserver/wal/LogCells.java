package org.stele.tserver.wal;

import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;

/**
 * The payload of a log record: its cells one after the other, each as {@code key length (varint),
 * key, value length (varint), value}. Keys are encoded by {@link KeyCodec}, with timestamp and
 * sequence in place; cell <i>i</i> has the record's first sequence + <i>i</i>.
 */
public final class LogCells {
  private static final int MIN_KEY_LENGTH = KeyCodec.TRAILER_LENGTH + 2;

  private LogCells() {}

  /** Appends one cell. */
  public static void write(
      ByteWriter out,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength) {
    out.writeByteString(key, keyOffset, keyLength);
    out.writeByteString(value, valueOffset, valueLength);
  }

  /** Takes cells in the order of the record; the bytes are valid during the call only. */
  @FunctionalInterface
  public interface Visitor {
    void cell(
        long sequence,
        byte[] array,
        int keyOffset,
        int keyLength,
        int valueOffset,
        int valueLength);
  }

  /**
   * Walks over a payload.
   *
   * @throws MalformedBytesException if it is not {@code count} cells with the sequences from {@code
   *     firstSequence} on
   */
  static void visit(
      byte[] array, int offset, int length, long firstSequence, int count, Visitor visitor) {
    ByteReader in = new ByteReader(array, offset, length);
    for (int i = 0; i < count; i++) {
      int keyLength = in.readLength();
      int keyOffset = in.position();
      in.skip(keyLength);
      int valueLength = in.readLength();
      int valueOffset = in.position();
      in.skip(valueLength);
      long sequence = firstSequence + i;
      if (keyLength < MIN_KEY_LENGTH
          || KeyCodec.sequence(array, keyOffset, keyLength) != sequence) {
        throw new MalformedBytesException(
            "cell "
                + i
                + " of a record has a key of "
                + keyLength
                + " bytes with another sequence");
      }
      visitor.cell(sequence, array, keyOffset, keyLength, valueOffset, valueLength);
    }
    if (in.hasRemaining()) {
      throw new MalformedBytesException(
          in.remaining() + " bytes are left behind the " + count + " cells of a record");
    }
  }

  /**
   * Checks a payload before it is logged, so that no record gets into a log that cannot be
   * replayed.
   *
   * @throws MalformedBytesException as {@link #visit}
   */
  static void check(byte[] array, int offset, int length, long firstSequence, int count) {
    visit(array, offset, length, firstSequence, count, (s, a, ko, kl, vo, vl) -> {});
  }
}
