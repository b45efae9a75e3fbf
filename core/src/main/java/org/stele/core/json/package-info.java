/** JSON text for status files and for scripts. */
@NullMarked
package org.stele.core.json;

import org.jspecify.annotations.NullMarked;
