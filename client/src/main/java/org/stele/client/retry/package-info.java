/** Whether, when and how often a failed call is tried again: the one place that decides it. */
@NullMarked
package org.stele.client.retry;

import org.jspecify.annotations.NullMarked;
