package org.stele.server.rpc;

import org.apache.thrift.TBase;
import org.stele.core.error.SteleException;

/**
 * One call that a handler answers, at once or later and from any thread, exactly once. A second
 * answer is ignored and counted as a fault of the handler.
 */
public interface Call {
  Caller caller();

  /**
   * Whether other calls wait for a worker now: a call that can be done in parts should end its part
   * soon. Cheap.
   */
  boolean othersWait();

  /** Answers with the method's result structure, whose success field is set. Never blocks. */
  void reply(TBase<?, ?> result);

  /** Answers with a typed error. Never blocks. */
  void fail(SteleException error);
}
