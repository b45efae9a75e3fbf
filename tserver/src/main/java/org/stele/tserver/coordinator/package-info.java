/**
 * The coordinator's role: gives tablets to servers, makes and deletes tables, removes what is left
 * of servers that are gone. Knows tablets by their metadata rows and servers by their addresses
 * only.
 */
@NullMarked
package org.stele.tserver.coordinator;

import org.jspecify.annotations.NullMarked;
