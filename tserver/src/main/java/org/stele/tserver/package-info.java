/** The tablet server. */
@NullMarked
package org.stele.tserver;

import org.jspecify.annotations.NullMarked;
