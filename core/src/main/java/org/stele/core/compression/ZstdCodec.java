package org.stele.core.compression;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import org.stele.core.data.MalformedBytesException;

/** Zstandard frames at the library's default level. */
final class ZstdCodec implements Codec {
  @Override
  public int maxCompressedLength(int length) {
    return Math.toIntExact(Zstd.compressBound(length));
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
    return (int)
        Zstd.compressByteArray(
            target,
            targetOffset,
            target.length - targetOffset,
            source,
            offset,
            length,
            Zstd.defaultCompressionLevel());
  }

  @Override
  public void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength) {
    long decompressed;
    try {
      decompressed =
          Zstd.decompressByteArray(target, targetOffset, targetLength, source, offset, length);
    } catch (ZstdException e) {
      throw new MalformedBytesException("malformed zstd block of " + length + " bytes: " + e);
    }
    if (decompressed != targetLength) {
      throw new MalformedBytesException(
          "zstd block holds " + decompressed + " bytes, " + targetLength + " expected");
    }
  }
}
