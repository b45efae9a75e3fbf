/** The endpoint: accept, select, queue, handle, reply (docs/data-path.md). */
@NullMarked
package org.stele.server.rpc;

import org.jspecify.annotations.NullMarked;
