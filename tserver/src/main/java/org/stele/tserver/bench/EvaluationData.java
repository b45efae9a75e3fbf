package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;

/**
 * The rows of the evaluation: numbers from 0 with leading zeros, so that their order is that of the
 * numbers, each with one value of random bytes. Immutable.
 */
final class EvaluationData {
  static final Bytes FAMILY = Bytes.of("info");
  static final Bytes QUALIFIER = Bytes.of("0");

  private static final int KEY_DIGITS = 12;
  private static final int POOL_BYTES = 1 << 20;

  private final int rows;
  private final int valueBytes;

  /** Random bytes that values are cut from: making each anew would cost more than writing it. */
  private final byte[] pool;

  EvaluationData(int rows, int valueBytes, long seed) {
    this.rows = rows;
    this.valueBytes = valueBytes;
    this.pool = new byte[POOL_BYTES + valueBytes];
    new SplittableRandom(seed).nextBytes(pool);
  }

  int rows() {
    return rows;
  }

  int valueBytes() {
    return valueBytes;
  }

  static Bytes row(int number) {
    String digits = Integer.toString(number);
    byte[] key = new byte[KEY_DIGITS];
    Arrays.fill(key, (byte) '0');
    byte[] end = digits.toLowerCase(Locale.ROOT).getBytes(ISO_8859_1);
    System.arraycopy(end, 0, key, KEY_DIGITS - end.length, end.length);
    return Bytes.wrap(key);
  }

  /** A row with a value out of the random bytes. */
  Mutation mutation(int number, SplittableRandom random) {
    int offset = random.nextInt(POOL_BYTES);
    return Mutation.of(row(number)).put(FAMILY, QUALIFIER, Bytes.of(pool, offset, valueBytes));
  }
}
