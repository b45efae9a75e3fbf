/** The sorted files of tablets: names, references, open readers, deletion. */
@NullMarked
package org.stele.tserver.files;

import org.jspecify.annotations.NullMarked;
