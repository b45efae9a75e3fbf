/** The only door to files, and its local implementation. */
@NullMarked
package org.stele.core.file;

import org.jspecify.annotations.NullMarked;
