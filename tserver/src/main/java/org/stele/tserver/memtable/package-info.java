/** Writes in memory until they are flushed. */
@NullMarked
package org.stele.tserver.memtable;

import org.jspecify.annotations.NullMarked;
