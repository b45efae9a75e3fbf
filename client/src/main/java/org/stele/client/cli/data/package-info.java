/** Commands on tables and their cells. */
@NullMarked
package org.stele.client.cli.data;

import org.jspecify.annotations.NullMarked;
