package org.stele.core.sortedfile;

import org.stele.core.compression.Compression;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;

/**
 * How a sorted file is written.
 *
 * @param tableId id of the table whose cells it holds
 * @param compression of data and index blocks
 * @param blockBytes size of data blocks before compression; a larger cell gets a block of its own
 * @param filterBits bits per row of the row filter; 0 makes none
 */
public record SortedFileOptions(
    String tableId, Compression compression, int blockBytes, int filterBits) {
  public SortedFileOptions {
    if (blockBytes < 64 || blockBytes > 8 << 20) {
      throw new IllegalArgumentException(
          "data blocks of " + blockBytes + " bytes: 64 to " + (8 << 20) + " are possible");
    }
    if (filterBits < 0 || filterBits > 32) {
      throw new IllegalArgumentException(
          "a filter of " + filterBits + " bits per row: 0 to 32 are possible");
    }
  }

  /** As the settings of a table say. */
  public static SortedFileOptions of(String tableId, Settings settings) {
    return new SortedFileOptions(
        tableId,
        Compression.ofSetting(settings.get(StandardSettings.TABLE_COMPRESSION)),
        Math.toIntExact(settings.get(StandardSettings.TABLE_BLOCK_BYTES)),
        settings.get(StandardSettings.TABLE_FILTER_BITS));
  }
}
