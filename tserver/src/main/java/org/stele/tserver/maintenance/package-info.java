/** Work on tablets in the background: who is next, on which thread, and again after a failure. */
@NullMarked
package org.stele.tserver.maintenance;

import org.jspecify.annotations.NullMarked;
