package org.stele.tserver.tablet;

import java.util.List;
import org.stele.core.settings.Settings;
import org.stele.tserver.files.FileReference;

/**
 * A tablet as its metadata row describes it.
 *
 * @param files in any order
 * @param flushedSequence everything up to it is in files
 * @param timeFloor no time given to a cell is below it, in milliseconds
 * @param settings of its table
 * @param system whether it belongs to the reserved class (the metadata tablet)
 */
public record TabletDescription(
    TabletIdentity identity,
    TabletExtent extent,
    List<FileReference> files,
    long flushedSequence,
    long timeFloor,
    Settings settings,
    boolean system) {
  public TabletDescription {
    files = List.copyOf(files);
  }
}
