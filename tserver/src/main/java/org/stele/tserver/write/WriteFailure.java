package org.stele.tserver.write;

import org.stele.core.error.SteleException;

/**
 * Why one mutation of a batch was not done, or that nobody knows whether it was.
 *
 * @param index its place in the batch, from 0
 */
public record WriteFailure(int index, SteleException error) {}
