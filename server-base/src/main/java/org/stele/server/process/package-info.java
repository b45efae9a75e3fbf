/** The life of a server process: its directory, its settings, how it starts and how it ends. */
@NullMarked
package org.stele.server.process;

import org.jspecify.annotations.NullMarked;
