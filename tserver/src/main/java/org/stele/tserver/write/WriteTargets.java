package org.stele.tserver.write;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;

/** Finds the target of a row. Thread-safe, never blocks. */
@FunctionalInterface
public interface WriteTargets {
  /** Null if no tablet of this server takes the row. */
  @Nullable WriteTarget find(String tableId, Bytes row);
}
