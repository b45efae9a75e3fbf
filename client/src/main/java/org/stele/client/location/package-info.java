/** Where tablets are: the schema of the metadata table, and the client's cache of locations. */
@NullMarked
package org.stele.client.location;

import org.jspecify.annotations.NullMarked;
