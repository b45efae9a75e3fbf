/**
 * The write-ahead log: format, group commit, recovery (docs/formats/write-ahead-log.md). Knows no
 * tablets.
 */
@NullMarked
package org.stele.tserver.wal;

import org.jspecify.annotations.NullMarked;
