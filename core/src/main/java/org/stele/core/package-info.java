/** Data model, settings, wire format, cursors and files: what clients and servers share. */
@NullMarked
package org.stele.core;

import org.jspecify.annotations.NullMarked;
