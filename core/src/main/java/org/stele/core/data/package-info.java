/** The data model: byte strings, cells, mutations, ranges, and the one encoding of keys. */
@NullMarked
package org.stele.core.data;

import org.jspecify.annotations.NullMarked;
