package org.stele.core.compression;

import com.google.errorprone.annotations.Immutable;
import org.stele.core.data.MalformedBytesException;

/** Compresses and decompresses whole blocks. Thread-safe, without state between calls. */
@Immutable
public interface Codec {
  /** The most bytes that {@link #compress} writes for {@code length} bytes. */
  int maxCompressedLength(int length);

  /**
   * Compresses into {@code target} from {@code targetOffset} on, where {@link
   * #maxCompressedLength(int)} bytes must be free.
   *
   * @return the bytes written
   */
  int compress(byte[] source, int offset, int length, byte[] target, int targetOffset);

  /**
   * Decompresses into {@code targetLength} bytes of {@code target}.
   *
   * @throws MalformedBytesException if the source does not decompress to exactly that many bytes
   */
  void decompress(
      byte[] source, int offset, int length, byte[] target, int targetOffset, int targetLength);
}
