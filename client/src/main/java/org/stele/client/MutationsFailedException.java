package org.stele.client;

import java.util.ArrayList;
import java.util.List;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Some mutations of a {@link BatchWriter} failed or have an unknown outcome: {@link #failures} has
 * every one of them, in the order they were found. Its code is UNKNOWN_OUTCOME if the outcome of
 * any is unknown, else the code of the first.
 */
public final class MutationsFailedException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final transient List<FailedMutation> failures;

  MutationsFailedException(String table, List<FailedMutation> failures) {
    super(codeOf(failures), message(table, failures), failures.get(0).error());
    this.failures = List.copyOf(failures);
  }

  private static ErrorCode codeOf(List<FailedMutation> failures) {
    return failures.stream().anyMatch(FailedMutation::isOutcomeUnknown)
        ? ErrorCode.UNKNOWN_OUTCOME
        : failures.get(0).error().code();
  }

  private static String message(String table, List<FailedMutation> failures) {
    long unknown = failures.stream().filter(FailedMutation::isOutcomeUnknown).count();
    return failures.size()
        + " mutations of table "
        + table
        + " failed, "
        + unknown
        + " of them with an unknown outcome; the first: row "
        + failures.get(0).mutation().row()
        + ": "
        + failures.get(0).error().getMessage();
  }

  /** Every failed or unknown mutation since the last report; never empty. */
  public List<FailedMutation> failures() {
    return new ArrayList<>(failures);
  }
}
