package org.stele.peers.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

/** The rows and cells that the scenarios write, alike for every product. */
final class Data {
  private Data() {}

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Hexadecimal digits of at least the given number, filled with zeros on the left. */
  static byte[] hex(long value, int digits) {
    String text = Long.toHexString(value);
    return bytes("0".repeat(Math.max(0, digits - text.length())) + text);
  }

  static byte[] randomHexRow(SplittableRandom random) {
    return hex(random.nextLong(), 16);
  }

  static SplittableRandom random() {
    return new SplittableRandom(ThreadLocalRandom.current().nextLong());
  }

  static byte[] randomBytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Split points that cut rows of hexadecimal digits into 16 tablets. */
  static List<byte[]> hexSplits() {
    List<byte[]> splits = new ArrayList<>();
    for (int digit = 1; digit < 16; digit++) {
      splits.add(hex(digit, 1));
    }
    return splits;
  }

  /** Split points that cut rows of random bytes into 16 tablets. */
  static List<byte[]> byteSplits() {
    List<byte[]> splits = new ArrayList<>();
    for (int first = 16; first < 256; first += 16) {
      splits.add(new byte[] {(byte) first});
    }
    return splits;
  }

  /** The rows of the lookup table: random, but the same in every run. */
  static byte[][] lookupRows(int count) {
    Random random = new Random(42);
    byte[][] rows = new byte[count][];
    for (int i = 0; i < count; i++) {
      rows[i] = hex(random.nextLong(), 16);
    }
    return rows;
  }
}
