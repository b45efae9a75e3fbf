package org.stele.core.compression;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.core.Seeds;
import org.stele.core.data.MalformedBytesException;

class CompressionTest {
  private static byte[] bytes(Random random) {
    byte[] bytes = new byte[random.nextInt(5000)];
    if (random.nextBoolean()) {
      random.nextBytes(bytes);
    } else {
      Arrays.setAll(new Object[bytes.length], i -> bytes[i] = (byte) (i % 7));
    }
    return bytes;
  }

  private static byte[] compress(Codec codec, byte[] raw, int padding) {
    byte[] source = new byte[raw.length + padding];
    System.arraycopy(raw, 0, source, padding, raw.length);
    byte[] target = new byte[codec.maxCompressedLength(raw.length) + padding];
    int length = codec.compress(source, padding, raw.length, target, padding);
    return Arrays.copyOfRange(target, padding, padding + length);
  }

  @ParameterizedTest
  @EnumSource
  void decompressesWhatItCompressed(Compression compression) {
    Codec codec = compression.codec();
    Seeds.run(
        100,
        random -> {
          byte[] raw = bytes(random);
          int padding = random.nextInt(5);
          byte[] compressed = compress(codec, raw, padding);
          byte[] back = new byte[raw.length + padding];
          codec.decompress(compressed, 0, compressed.length, back, padding, raw.length);
          assertArrayEquals(raw, Arrays.copyOfRange(back, padding, back.length));
        });
  }

  @ParameterizedTest
  @EnumSource
  void wrongLengthsAreRefused(Compression compression) {
    Codec codec = compression.codec();
    byte[] compressed = compress(codec, new byte[100], 0);
    for (int wrong : new int[] {0, 99, 101}) {
      assertThrows(
          MalformedBytesException.class,
          () -> codec.decompress(compressed, 0, compressed.length, new byte[200], 0, wrong));
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void damageIsRefusedOrGivesOtherBytes(Compression compression) {
    Codec codec = compression.codec();
    Seeds.run(
        200,
        random -> {
          byte[] raw = bytes(random);
          byte[] compressed = compress(codec, raw, 0);
          if (compressed.length == 0) {
            return;
          }
          compressed[random.nextInt(compressed.length)] ^= (byte) (1 + random.nextInt(255));
          byte[] back = new byte[raw.length];
          try {
            codec.decompress(
                compressed, 0, random.nextInt(compressed.length + 1), back, 0, raw.length);
          } catch (MalformedBytesException e) {
            assertTrue(e.getMessage() != null);
          }
        });
  }

  @Test
  void idsAreFixed() {
    assertEquals(Compression.NONE, Compression.ofId(0));
    assertEquals(Compression.LZ4, Compression.ofId(1));
    assertEquals(Compression.ZSTD, Compression.ofId(2));
    assertEquals(Compression.SNAPPY, Compression.ofId(3));
    assertThrows(MalformedBytesException.class, () -> Compression.ofId(4));
    assertThrows(MalformedBytesException.class, () -> Compression.ofId(-1));
    for (Compression compression : Compression.values()) {
      assertEquals(compression, Compression.ofId(compression.id()));
      assertEquals(compression, Compression.ofSetting(compression.settingName()));
    }
    assertThrows(IllegalArgumentException.class, () -> Compression.ofSetting("gzip"));
  }
}
