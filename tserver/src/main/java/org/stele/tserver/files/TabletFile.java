package org.stele.tserver.files;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.KeyCodec;
import org.stele.core.sortedfile.SortedFileReader;

/**
 * A file of a tablet: the reference and the open file, with the reference's row range as encoded
 * keys. Immutable; does not count as a user of the file by itself.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared by content
public record TabletFile(
    FileReference reference,
    OpenFile file,
    byte @Nullable [] lowerKey,
    byte @Nullable [] upperKey) {

  public static TabletFile of(FileReference reference, OpenFile file) {
    return new TabletFile(
        reference,
        file,
        reference.previousEndRow() == null ? null : KeyCodec.upperBound(reference.previousEndRow()),
        reference.endRow() == null ? null : KeyCodec.upperBound(reference.endRow()));
  }

  public SortedFileReader reader() {
    return file.reader();
  }
}
