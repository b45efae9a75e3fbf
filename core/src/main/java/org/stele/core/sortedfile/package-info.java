/** Sorted files: immutable files of cells in key order (docs/formats/sorted-file.md). */
@NullMarked
package org.stele.core.sortedfile;

import org.jspecify.annotations.NullMarked;
