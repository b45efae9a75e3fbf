/** Cursors: walking cells in key order, merging and filtering. */
@NullMarked
package org.stele.core.cursor;

import org.jspecify.annotations.NullMarked;
