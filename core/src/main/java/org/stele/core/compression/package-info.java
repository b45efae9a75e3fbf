/** Compression of blocks: the only package that knows the libraries. */
@NullMarked
package org.stele.core.compression;

import org.jspecify.annotations.NullMarked;
