/**
 * Faults that systems like this one have had, each as a test against a whole server. A class is
 * named after what must hold; its comment says what goes wrong elsewhere.
 */
@NullMarked
package org.stele.test.cases;

import org.jspecify.annotations.NullMarked;
