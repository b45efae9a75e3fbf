/** What a server process leaves in its instance directory for those who look for it. */
@NullMarked
package org.stele.client.instance;

import org.jspecify.annotations.NullMarked;
