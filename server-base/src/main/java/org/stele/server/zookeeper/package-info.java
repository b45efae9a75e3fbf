/** The ZooKeeper server that a standalone server carries in its own process. */
@NullMarked
package org.stele.server.zookeeper;

import org.jspecify.annotations.NullMarked;
