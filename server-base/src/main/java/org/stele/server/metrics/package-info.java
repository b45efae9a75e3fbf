/** How a server measures itself. */
@NullMarked
package org.stele.server.metrics;

import org.jspecify.annotations.NullMarked;
