/**
 * What stands between a dead server and its tablets being served again: fencing its logs, reading
 * them, replaying them into the tablets that this server was given. Also the opening and closing of
 * tablets as such.
 */
@NullMarked
package org.stele.tserver.recovery;

import org.jspecify.annotations.NullMarked;
