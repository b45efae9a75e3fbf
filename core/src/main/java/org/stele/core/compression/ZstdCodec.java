package org.stele.core.compression;

import com.github.luben.zstd.Zstd;
import org.stele.core.data.MalformedBytesException;

/** Zstandard frames at the library's default level. */
final class ZstdCodec implements Codec {
  @Override
  public int maxCompressedLength(int length) {
    return Math.toIntExact(Zstd.compressBound(length));
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
    long compressed =
        Zstd.compressByteArray(
            target,
            targetOffset,
            target.length - targetOffset,
            source,
            offset,
            length,
            Zstd.defaultCompressionLevel());
    if (Zstd.isError(compressed)) {
      throw new IllegalStateException("zstd cannot compress: " + Zstd.getErrorName(compressed));
    }
    return (int) compressed;
  }

  @Override
  public void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength) {
    long decompressed =
        Zstd.decompressByteArray(target, targetOffset, targetLength, source, offset, length);
    if (Zstd.isError(decompressed)) {
      throw new MalformedBytesException(
          "malformed zstd block of " + length + " bytes: " + Zstd.getErrorName(decompressed));
    }
    if (decompressed != targetLength) {
      throw new MalformedBytesException(
          "zstd block holds " + decompressed + " bytes, " + targetLength + " expected");
    }
  }
}
