/** Tests of the whole system, and the mini cluster they run on. */
@NullMarked
package org.stele.test;

import org.jspecify.annotations.NullMarked;
