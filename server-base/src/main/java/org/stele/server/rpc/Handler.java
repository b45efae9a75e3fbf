package org.stele.server.rpc;

import org.apache.thrift.TBase;

/**
 * Does one method. What it throws is answered for it: a {@link org.stele.core.error.SteleException}
 * as it is, anything else as INTERNAL, except {@link org.stele.core.concurrent.WouldBlockException}
 * on a selector thread, after which the call is begun anew on a worker.
 *
 * @param <A> the method's argument structure, which is only valid during {@link #handle}: its byte
 *     buffers lie in the frame
 */
@FunctionalInterface
public interface Handler<A extends TBase<?, ?>> {
  void handle(A arguments, Call call) throws Exception;
}
