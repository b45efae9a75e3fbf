/** Outcomes that a caller acts on. */
@NullMarked
package org.stele.core.error;

import org.jspecify.annotations.NullMarked;
