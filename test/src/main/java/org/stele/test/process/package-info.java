/** Servers as users run them: processes started by the scripts of the unpacked tarball. */
@NullMarked
package org.stele.test.process;

import org.jspecify.annotations.NullMarked;
