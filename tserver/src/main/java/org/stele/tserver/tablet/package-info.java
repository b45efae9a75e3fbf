/**
 * One tablet: its life cycle, its counted views, its place in the write path; and the map of all
 * tablets.
 */
@NullMarked
package org.stele.tserver.tablet;

import org.jspecify.annotations.NullMarked;
