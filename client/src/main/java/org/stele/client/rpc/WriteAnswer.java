package org.stele.client.rpc;

import java.util.List;
import org.stele.core.error.SteleException;

/** What became of the mutations of a query: those that are not named are done. */
public record WriteAnswer(List<Failure> failures) {
  /**
   * @param index of the mutation in the query, from 0
   */
  public record Failure(int index, SteleException error) {}
}
