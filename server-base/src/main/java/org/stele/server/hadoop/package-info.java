/** Files on HDFS and other Hadoop file systems. */
@NullMarked
package org.stele.server.hadoop;

import org.jspecify.annotations.NullMarked;
