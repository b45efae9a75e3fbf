package org.stele.client;

import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * A mutation that was not done, or of which nobody knows.
 *
 * @param error why; with code {@link ErrorCode#UNKNOWN_OUTCOME} the mutation may have been done,
 *     with every other code it was not
 */
public record FailedMutation(Mutation mutation, SteleException error) {
  public boolean isOutcomeUnknown() {
    return error.code() == ErrorCode.UNKNOWN_OUTCOME;
  }
}
