/** Commands that run servers. */
@NullMarked
package org.stele.tserver.cli;

import org.jspecify.annotations.NullMarked;
