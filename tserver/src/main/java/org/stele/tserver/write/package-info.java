/**
 * The write path: validate, group by tablet, admit, log, apply, publish, answer. Knows no tablets,
 * only {@link org.stele.tserver.write.WriteTarget}.
 */
@NullMarked
package org.stele.tserver.write;

import org.jspecify.annotations.NullMarked;
