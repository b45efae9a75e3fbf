/** Small rules about threads that all modules share. */
@NullMarked
package org.stele.core.concurrent;

import org.jspecify.annotations.NullMarked;
