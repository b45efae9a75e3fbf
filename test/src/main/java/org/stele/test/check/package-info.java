/** What must hold, as something that can be asked: ledgers, gauges, waiting for conditions. */
@NullMarked
package org.stele.test.check;

import org.jspecify.annotations.NullMarked;
