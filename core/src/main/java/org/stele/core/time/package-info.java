/** Time as a parameter. */
@NullMarked
package org.stele.core.time;

import org.jspecify.annotations.NullMarked;
