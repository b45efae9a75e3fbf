/** What somebody meets on the first day with the unpacked tarball. */
@NullMarked
package org.stele.test.day;

import org.jspecify.annotations.NullMarked;
