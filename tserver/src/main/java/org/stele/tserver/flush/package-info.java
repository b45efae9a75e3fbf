/** Brings memtables into sorted files. */
@NullMarked
package org.stele.tserver.flush;

import org.jspecify.annotations.NullMarked;
