/** The public Java API of Stele. */
@NullMarked
package org.stele.client;

import org.jspecify.annotations.NullMarked;
