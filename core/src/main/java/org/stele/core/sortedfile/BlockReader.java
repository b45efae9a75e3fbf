package org.stele.core.sortedfile;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.stele.core.compression.Compression;
import org.stele.core.data.ByteReader;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileInput;

/**
 * Reads blocks of one file: each is checked before anything in it is believed, and whatever is
 * wrong comes out as a {@link CorruptFileException}. Thread-safe.
 */
final class BlockReader {
  private final FileInput input;
  private final int salt;

  BlockReader(FileInput input, int salt) {
    this.input = input;
    this.salt = salt;
  }

  String path() {
    return input.path();
  }

  long fileLength() {
    return input.length();
  }

  /** Reads bytes that must be there. */
  static byte[] readFully(FileInput input, long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    try {
      input.readFully(offset, bytes, 0, length);
    } catch (EOFException e) {
      CorruptFileException corrupt =
          new CorruptFileException(
              input.path(), offset, "the file ends before " + length + " bytes");
      corrupt.initCause(e);
      throw corrupt;
    }
    return bytes;
  }

  CorruptFileException corrupt(long offset, String what) {
    return new CorruptFileException(input.path(), offset, what);
  }

  CorruptFileException corrupt(long offset, MalformedBytesException cause) {
    CorruptFileException corrupt = corrupt(offset, String.valueOf(cause.getMessage()));
    corrupt.initCause(cause);
    return corrupt;
  }

  /** A block as it is stored, after its checksum was found right. */
  private byte[] readStored(byte kind, long offset, int length) throws IOException {
    if (length <= SortedFileFormat.TRAILER_LENGTH
        || length > SortedFileFormat.MAX_BLOCK_BYTES + SortedFileFormat.TRAILER_LENGTH
        || offset < 0
        || offset > input.length() - length) {
      throw corrupt(offset, "a block of " + length + " bytes cannot be here");
    }
    byte[] stored = readFully(input, offset, length);
    int checksumAt = length - 4;
    int expected = new ByteReader(stored, checksumAt, 4).readInt();
    int actual = SortedFileFormat.checksum(salt, offset, stored, 0, checksumAt);
    if (expected != actual) {
      throw corrupt(
          offset,
          "a block of "
              + length
              + " bytes has checksum "
              + Integer.toHexString(actual)
              + ", written was "
              + Integer.toHexString(expected));
    }
    int storedKind = stored[length - SortedFileFormat.TRAILER_LENGTH];
    if (storedKind != kind) {
      throw corrupt(offset, "a block of kind " + storedKind + " in place of kind " + kind);
    }
    return stored;
  }

  /** The payload of a block, decompressed. */
  byte[] readPayload(byte kind, long offset, int length) throws IOException {
    byte[] stored = readStored(kind, offset, length);
    int payloadLength = length - SortedFileFormat.TRAILER_LENGTH;
    ByteReader trailer = new ByteReader(stored, payloadLength, SortedFileFormat.TRAILER_LENGTH);
    trailer.skip(SortedFileFormat.TRAILER_COMPRESSION);
    int compressionId = trailer.readUnsignedByte();
    int rawLength = trailer.readInt();
    if (rawLength < 0 || rawLength > SortedFileFormat.MAX_BLOCK_BYTES) {
      throw corrupt(offset, "a block of " + rawLength + " bytes before compression");
    }
    try {
      Compression compression = Compression.ofId(compressionId);
      if (compression == Compression.NONE && rawLength == payloadLength) {
        return Arrays.copyOf(stored, payloadLength);
      }
      byte[] raw = new byte[rawLength];
      compression.codec().decompress(stored, 0, payloadLength, raw, 0, rawLength);
      return raw;
    } catch (MalformedBytesException e) {
      throw corrupt(offset, e);
    }
  }

  EntryBlock readData(long offset, int length) throws IOException {
    byte[] payload = readPayload(SortedFileFormat.DATA, offset, length);
    try {
      return new EntryBlock(payload, 1);
    } catch (MalformedBytesException e) {
      throw corrupt(offset, e);
    }
  }

  EntryBlock readIndex(long offset, int length, int minEntries) throws IOException {
    byte[] payload = readPayload(SortedFileFormat.INDEX, offset, length);
    try {
      return IndexBlocks.decode(payload, offset, minEntries);
    } catch (MalformedBytesException e) {
      throw corrupt(offset, e);
    }
  }

  FilterPage readFilterPage(long offset, int pageBytes) throws IOException {
    byte[] payload =
        readPayload(SortedFileFormat.FILTER, offset, pageBytes + SortedFileFormat.TRAILER_LENGTH);
    if (payload.length != pageBytes) {
      throw corrupt(offset, "a filter page of " + payload.length + " bytes, not " + pageBytes);
    }
    return new FilterPage(payload);
  }
}
