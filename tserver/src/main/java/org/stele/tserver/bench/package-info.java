/**
 * The load generator {@code stele bench}. A user of the system and not a part of it: it drives a
 * server process through the client library, and nobody imports it.
 */
@NullMarked
package org.stele.tserver.bench;

import org.jspecify.annotations.NullMarked;
