package org.stele.tserver.cache;

/**
 * What one part of the cache has done since it was made, and holds now.
 *
 * @param hits blocks found
 * @param misses blocks not found, by those who would or would not wait for them
 * @param loads blocks read
 * @param loadFailures reads that failed
 * @param evictions blocks given up for others
 * @param blocks kept now
 * @param bytes of the blocks kept now, with overhead
 * @param limit of the bytes
 */
public record CacheCounters(
    long hits,
    long misses,
    long loads,
    long loadFailures,
    long evictions,
    long blocks,
    long bytes,
    long limit) {}
