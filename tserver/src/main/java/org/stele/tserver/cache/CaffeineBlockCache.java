package org.stele.tserver.cache;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.stele.core.sortedfile.Block;
import org.stele.core.sortedfile.BlockCache;

/**
 * Keeps blocks in memory: data blocks in one part, index blocks and filters in another, each with a
 * budget of its own in bytes, so that a scan of much data never drives out what finds it.
 * Thread-safe. A hit takes no lock.
 */
public final class CaffeineBlockCache implements BlockCache {
  private final CachePart data;
  private final CachePart index;

  /**
   * @param dataBytes budget of data blocks; 0 keeps none
   * @param indexBytes budget of index blocks and filters; 0 keeps none
   */
  public CaffeineBlockCache(long dataBytes, long indexBytes) {
    data = new CachePart(dataBytes);
    index = new CachePart(indexBytes);
  }

  private CachePart part(Kind kind) {
    return kind == Kind.DATA ? data : index;
  }

  @Override
  public @Nullable Block getIfPresent(Kind kind, long fileId, long offset) {
    return part(kind).getIfPresent(fileId, offset);
  }

  @Override
  public Block get(Kind kind, long fileId, long offset, Loader loader) throws IOException {
    return part(kind).get(fileId, offset, loader);
  }

  public CacheCounters counters(Kind kind) {
    return part(kind).counters();
  }
}
