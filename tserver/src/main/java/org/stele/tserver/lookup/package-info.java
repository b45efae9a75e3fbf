/** Point lookups: one row, or columns of it. */
@NullMarked
package org.stele.tserver.lookup;

import org.jspecify.annotations.NullMarked;
