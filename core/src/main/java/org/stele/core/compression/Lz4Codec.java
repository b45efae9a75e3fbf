package org.stele.core.compression;

import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.stele.core.data.MalformedBytesException;

/** LZ4 blocks (not frames), checked while they are decompressed. */
final class Lz4Codec implements Codec {
  @SuppressWarnings("Immutable") // the library's compressors have no state
  private final LZ4Compressor compressor = LZ4Factory.fastestInstance().fastCompressor();

  @SuppressWarnings("Immutable")
  private final LZ4SafeDecompressor decompressor = LZ4Factory.fastestInstance().safeDecompressor();

  @Override
  public int maxCompressedLength(int length) {
    return compressor.maxCompressedLength(length);
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
    return compressor.compress(source, offset, length, target, targetOffset);
  }

  @Override
  public void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength) {
    int decompressed;
    try {
      decompressed =
          decompressor.decompress(source, offset, length, target, targetOffset, targetLength);
    } catch (LZ4Exception e) {
      throw new MalformedBytesException("malformed lz4 block of " + length + " bytes: " + e);
    }
    if (decompressed != targetLength) {
      throw new MalformedBytesException(
          "lz4 block holds " + decompressed + " bytes, " + targetLength + " expected");
    }
  }
}
