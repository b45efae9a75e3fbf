/** What travels: the call header, packed cells and mutations, and errors (docs/formats/wire.md). */
@NullMarked
package org.stele.core.wire;

import org.jspecify.annotations.NullMarked;
