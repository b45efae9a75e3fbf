/** What every server process needs: endpoint, life cycle, file store, security, metrics. */
@NullMarked
package org.stele.server;

import org.jspecify.annotations.NullMarked;
