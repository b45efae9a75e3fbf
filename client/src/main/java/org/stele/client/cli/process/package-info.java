/** Commands on a server process in the background, and on a running server. */
@NullMarked
package org.stele.client.cli.process;

import org.jspecify.annotations.NullMarked;
