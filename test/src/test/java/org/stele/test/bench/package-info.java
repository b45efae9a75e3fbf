/** The benchmarks in short forms: that they work and what they say, not what they measure. */
@NullMarked
package org.stele.test.bench;

import org.jspecify.annotations.NullMarked;
