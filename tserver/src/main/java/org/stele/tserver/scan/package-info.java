/** Scans in batches that keep nothing on the server between them. */
@NullMarked
package org.stele.tserver.scan;

import org.jspecify.annotations.NullMarked;
