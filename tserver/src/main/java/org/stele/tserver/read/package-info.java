/** What lookups and scans share: from a view of a tablet to a cursor over what counts in it. */
@NullMarked
package org.stele.tserver.read;

import org.jspecify.annotations.NullMarked;
