/** The metadata table in typed records, read and written by the ordinary client path. */
@NullMarked
package org.stele.server.metadata;

import org.jspecify.annotations.NullMarked;
