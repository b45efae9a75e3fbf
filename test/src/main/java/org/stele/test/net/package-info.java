/** Network partners that misbehave: raw sockets, and a proxy that delays, cuts and counts. */
@NullMarked
package org.stele.test.net;

import org.jspecify.annotations.NullMarked;
