/** Merges sorted files, so that a tablet has few of them and none of what nobody sees. */
@NullMarked
package org.stele.tserver.compact;

import org.jspecify.annotations.NullMarked;
