package org.stele.core.data;

/**
 * The order of writes of a tablet in 64 bits: the epoch of the tablet's assignment (24 bits) above
 * a counter (40 bits) that is raised by one for each cell as its record is placed in the log
 * (design §2). Compared as unsigned numbers.
 */
public final class Sequence {
  public static final int COUNTER_BITS = 40;
  public static final int MAX_EPOCH = (1 << 24) - 1;
  public static final long MAX_COUNTER = (1L << COUNTER_BITS) - 1;

  private Sequence() {}

  public static long of(int epoch, long counter) {
    if (epoch < 0 || epoch > MAX_EPOCH || counter < 0 || counter > MAX_COUNTER) {
      throw new IllegalArgumentException(
          "epoch " + epoch + ", counter " + counter + " are out of range");
    }
    return (long) epoch << COUNTER_BITS | counter;
  }

  public static int epoch(long sequence) {
    return (int) (sequence >>> COUNTER_BITS);
  }

  public static long counter(long sequence) {
    return sequence & MAX_COUNTER;
  }

  public static String toString(long sequence) {
    return epoch(sequence) + "." + counter(sequence);
  }
}
