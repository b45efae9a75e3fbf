/**
 * The ZooKeeper session and the nodes of an instance, in words of our own. No other package knows
 * ZooKeeper.
 *
 * <pre>
 *   /instance            id and format of the instance                       (persistent)
 *   /root                the metadata tablet's own row                       (persistent, written by version)
 *   /servers/SESSION     lock node of a server: address, version             (ephemeral)
 *   /coordinator/…       who waits for the coordinator's role, first is it   (ephemeral, sequential)
 * </pre>
 *
 * <p>All below the path of the connect string, {@code /stele} if it names none.
 */
@NullMarked
package org.stele.core.coordination;

import org.jspecify.annotations.NullMarked;
