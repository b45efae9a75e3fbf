package org.stele.tserver.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.sortedfile.Block;
import org.stele.core.sortedfile.BlockCache;

/**
 * The blocks of one kind, up to a budget in bytes. Thread-safe.
 *
 * <p>Loads do not run within Caffeine: a block being read is a future in a map of its own, which
 * all who want it wait for. So a slow disk holds up nobody who wants another block, and a failure
 * goes to those who waited and is forgotten. A block larger than an eighth of the budget is not
 * kept.
 */
final class CachePart {
  /** Key, Caffeine's node, their share of the table. */
  private static final int ENTRY_OVERHEAD_BYTES = 120;

  private static final int LARGEST_SHARE = 8;

  private final long limit;
  private final Cache<BlockKey, Block> kept;
  private final ConcurrentMap<BlockKey, CompletableFuture<Block>> loading =
      new ConcurrentHashMap<>();

  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder loads = new LongAdder();
  private final LongAdder loadFailures = new LongAdder();
  private final LongAdder evictions = new LongAdder();

  private record BlockKey(long fileId, long offset) {
    @Override
    public int hashCode() {
      long mixed = (fileId * 0x9E3779B97F4A7C15L ^ offset) * 0xC2B2AE3D27D4EB4FL;
      return (int) (mixed >>> 32);
    }
  }

  CachePart(long limit) {
    this.limit = limit;
    this.kept =
        Caffeine.newBuilder()
            .maximumWeight(limit)
            .weigher((BlockKey key, Block block) -> weight(block))
            .executor(Runnable::run)
            .evictionListener((key, block, cause) -> evictions.increment())
            .build();
  }

  private static int weight(Block block) {
    return block.weight() + ENTRY_OVERHEAD_BYTES;
  }

  @Nullable Block getIfPresent(long fileId, long offset) {
    Block block = kept.getIfPresent(new BlockKey(fileId, offset));
    (block == null ? misses : hits).increment();
    return block;
  }

  /** Called after {@link #getIfPresent} found nothing. */
  Block get(long fileId, long offset, BlockCache.Loader loader) throws IOException {
    NonBlocking.assertMayBlock();
    BlockKey key = new BlockKey(fileId, offset);
    CompletableFuture<Block> mine = new CompletableFuture<>();
    CompletableFuture<Block> other = loading.putIfAbsent(key, mine);
    return other == null ? load(key, mine, loader) : await(other);
  }

  private Block load(BlockKey key, CompletableFuture<Block> future, BlockCache.Loader loader)
      throws IOException {
    try {
      Block block = kept.getIfPresent(key);
      if (block == null) {
        loads.increment();
        block = loader.load();
        if (weight(block) <= limit / LARGEST_SHARE) {
          kept.put(key, block);
        }
      }
      loading.remove(key, future);
      future.complete(block);
      return block;
    } catch (IOException | RuntimeException | Error e) {
      loadFailures.increment();
      loading.remove(key, future);
      future.completeExceptionally(e);
      throw e;
    }
  }

  /** Waits for the thread that loads the block; has its failure as that thread has it. */
  private static Block await(CompletableFuture<Block> future) throws IOException {
    try {
      return future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while another thread loads the block");
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof IOException failure) {
        throw failure;
      }
      if (cause instanceof RuntimeException failure) {
        throw failure;
      }
      if (cause instanceof Error failure) {
        throw failure;
      }
      throw new IOException(cause);
    }
  }

  CacheCounters counters() {
    kept.cleanUp();
    long bytes = kept.policy().eviction().orElseThrow().weightedSize().orElse(0);
    return new CacheCounters(
        hits.sum(),
        misses.sum(),
        loads.sum(),
        loadFailures.sum(),
        evictions.sum(),
        kept.estimatedSize(),
        bytes,
        limit);
  }
}
