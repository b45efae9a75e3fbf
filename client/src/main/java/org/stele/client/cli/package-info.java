/**
 * The command {@code stele}: its start, options, exit codes and output, and what commands of other
 * packages and modules need to be part of it.
 */
@NullMarked
package org.stele.client.cli;

import org.jspecify.annotations.NullMarked;
