/** The settings of Stele: one list, each typed and checked. */
@NullMarked
package org.stele.core.settings;

import org.jspecify.annotations.NullMarked;
