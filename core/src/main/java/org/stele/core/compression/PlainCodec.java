package org.stele.core.compression;

import org.stele.core.data.MalformedBytesException;

/** Copies. */
final class PlainCodec implements Codec {
  @Override
  public int maxCompressedLength(int length) {
    return length;
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
    System.arraycopy(source, offset, target, targetOffset, length);
    return length;
  }

  @Override
  public void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength) {
    if (length != targetLength) {
      throw new MalformedBytesException(
          length + " bytes that are not compressed, " + targetLength + " expected");
    }
    System.arraycopy(source, offset, target, targetOffset, length);
  }
}
