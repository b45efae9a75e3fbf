package org.stele.core.compression;

import java.io.IOException;
import org.stele.core.data.MalformedBytesException;
import org.xerial.snappy.Snappy;

/** Snappy blocks (not frames). */
final class SnappyCodec implements Codec {
  @Override
  public int maxCompressedLength(int length) {
    return Snappy.maxCompressedLength(length);
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
    try {
      return Snappy.compress(source, offset, length, target, targetOffset);
    } catch (IOException e) {
      throw new IllegalStateException("snappy cannot compress", e);
    }
  }

  @Override
  public void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength) {
    try {
      int announced = Snappy.uncompressedLength(source, offset, length);
      if (announced != targetLength) {
        throw new MalformedBytesException(
            "snappy block holds " + announced + " bytes, " + targetLength + " expected");
      }
      Snappy.uncompress(source, offset, length, target, targetOffset);
    } catch (IOException e) {
      throw new MalformedBytesException("malformed snappy block of " + length + " bytes: " + e);
    }
  }
}
