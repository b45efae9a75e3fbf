/** Connections as both sides use them: plain or encrypted, never blocking. */
@NullMarked
package org.stele.core.net;

import org.jspecify.annotations.NullMarked;
