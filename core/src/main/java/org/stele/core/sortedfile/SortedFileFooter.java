package org.stele.core.sortedfile;

import java.io.IOException;
import org.stele.core.data.ByteReader;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileInput;
import org.stele.core.file.UnsupportedFormatException;

/** The end of each file, from which all the rest is found. */
record SortedFileFooter(int salt, long offset, long propertiesOffset, int propertiesLength) {

  /** Reads and checks the footer, and that this release knows the version and features. */
  static SortedFileFooter read(FileInput input) throws IOException {
    long fileLength = input.length();
    if (fileLength < SortedFileFormat.FOOTER_TAIL) {
      throw new CorruptFileException(
          input.path(), 0, "a file of " + fileLength + " bytes is too short");
    }
    long tailOffset = fileLength - SortedFileFormat.FOOTER_TAIL;
    byte[] tail = BlockReader.readFully(input, tailOffset, SortedFileFormat.FOOTER_TAIL);
    ByteReader in = new ByteReader(tail);
    int checksum = in.readInt();
    int footerLength = in.readUnsignedShort();
    int version = in.readUnsignedShort();
    for (byte expected : SortedFileFormat.MAGIC) {
      if (in.readByte() != expected) {
        throw new CorruptFileException(
            input.path(),
            fileLength - SortedFileFormat.MAGIC.length,
            "it does not end like a sorted file");
      }
    }
    if (footerLength < SortedFileFormat.FOOTER_TAIL
        || footerLength > Math.min(fileLength, SortedFileFormat.MAX_FOOTER_LENGTH)) {
      throw new CorruptFileException(
          input.path(), tailOffset, "a footer of " + footerLength + " bytes");
    }
    long footerOffset = fileLength - footerLength;
    byte[] footer = BlockReader.readFully(input, footerOffset, footerLength);
    int checksumAt = footerLength - SortedFileFormat.FOOTER_TAIL;
    if (checksum
        != SortedFileFormat.footerChecksum(
            footer, 0, checksumAt, footer, checksumAt + 4, SortedFileFormat.FOOTER_TAIL - 4)) {
      throw new CorruptFileException(input.path(), footerOffset, "the footer's checksum is wrong");
    }
    checkVersion(input, version, footerLength, footerOffset);
    return decode(input, footer, footerOffset);
  }

  private static void checkVersion(
      FileInput input, int version, int footerLength, long footerOffset) throws IOException {
    if (version > SortedFileFormat.VERSION) {
      throw new UnsupportedFormatException(
          input.path(),
          "sorted file format version "
              + version
              + ", the newest known is "
              + SortedFileFormat.VERSION);
    }
    if (version < 1 || footerLength != SortedFileFormat.FOOTER_LENGTH) {
      throw new CorruptFileException(
          input.path(),
          footerOffset,
          "a footer of version " + version + " and " + footerLength + " bytes");
    }
  }

  private static SortedFileFooter decode(FileInput input, byte[] footer, long footerOffset)
      throws IOException {
    ByteReader in = new ByteReader(footer);
    int salt = in.readInt();
    long features = in.readLong();
    if (features != 0) {
      throw new UnsupportedFormatException(
          input.path(),
          "it requires feature " + Long.numberOfTrailingZeros(features) + " of sorted files");
    }
    long writtenLength = in.readLong();
    if (writtenLength != input.length()) {
      throw new CorruptFileException(
          input.path(),
          footerOffset,
          "the file has " + input.length() + " bytes, written were " + writtenLength);
    }
    long propertiesOffset = in.readLong();
    int propertiesLength = in.readInt();
    if (propertiesLength < 0 || propertiesOffset != footerOffset - propertiesLength) {
      throw new CorruptFileException(
          input.path(),
          footerOffset,
          "properties of " + propertiesLength + " bytes at " + propertiesOffset);
    }
    return new SortedFileFooter(salt, footerOffset, propertiesOffset, propertiesLength);
  }
}
