package org.stele.core.coordination;

/**
 * What a node held, and the version to name when it is written next.
 *
 * @param version counts the node's changes from 0
 */
public record Versioned<T>(T value, int version) {}
