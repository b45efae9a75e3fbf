package org.stele.tserver.tablet;

import org.stele.tserver.memtable.Memtable;

/**
 * A memtable that gets no more cells and waits to be in a sorted file.
 *
 * @param memtable all cells of the tablet with a sequence up to {@code lastSequence} that are in no
 *     file
 * @param firstSequence none of its cells has a lower one
 * @param lastSequence everything placed up to it is applied or given up, and nothing above it is in
 *     the memtable
 * @param timeFloor at least every time given to one of its cells, in milliseconds
 * @param oldest whether nothing older is left that a delete of the memtable could hide
 */
public record FrozenMemtable(
    Memtable memtable, long firstSequence, long lastSequence, long timeFloor, boolean oldest) {}
