package org.stele.client.rpc;

/**
 * How long an attempt may take, and which it is.
 *
 * @param deadlineNanos of this attempt, on the clock's nanoseconds
 * @param attempt from 1
 * @param sinceFirstMillis since the operation's first attempt
 */
public record CallLimits(long deadlineNanos, int attempt, long sinceFirstMillis) {}
