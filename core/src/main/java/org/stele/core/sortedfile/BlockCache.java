package org.stele.core.sortedfile;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps blocks of sorted files in memory, as the readers ask for them. A file is named by a number
 * that is never given to another file in this process. Thread-safe.
 */
public interface BlockCache {
  /** Keeps nothing: every block is read each time. */
  BlockCache NONE =
      new BlockCache() {
        @Override
        public @Nullable Block getIfPresent(Kind kind, long fileId, long offset) {
          return null;
        }

        @Override
        public Block get(Kind kind, long fileId, long offset, Loader loader) throws IOException {
          return loader.load();
        }
      };

  /** The block if it is kept; never blocks. */
  @Nullable Block getIfPresent(Kind kind, long fileId, long offset);

  /**
   * The block, loaded if it is not kept. However many threads ask for it, one loads it; an
   * exception of the loader comes out as it is and is not remembered.
   */
  Block get(Kind kind, long fileId, long offset, Loader loader) throws IOException;

  /** What a block is for; each kind has room of its own. */
  enum Kind {
    /** Cells. */
    DATA,
    /** Index blocks and pages of row filters. */
    INDEX
  }

  /** Reads, verifies and decompresses one block. */
  @FunctionalInterface
  interface Loader {
    Block load() throws IOException;
  }
}
