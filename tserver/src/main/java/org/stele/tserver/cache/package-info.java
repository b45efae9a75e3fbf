/** The block cache, on Caffeine. */
@NullMarked
package org.stele.tserver.cache;

import org.jspecify.annotations.NullMarked;
