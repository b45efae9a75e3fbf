/** Batches that change several rows of one tablet together, if conditions hold. */
@NullMarked
package org.stele.tserver.conditional;

import org.jspecify.annotations.NullMarked;
