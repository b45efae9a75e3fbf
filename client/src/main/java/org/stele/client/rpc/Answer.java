package org.stele.client.rpc;

import org.stele.client.retry.AttemptException;

/**
 * Hears of the end of an asynchronous call, once, on a thread that serves other calls too: must not
 * block.
 */
public interface Answer<T> {
  void answered(T value);

  void failed(AttemptException failure);
}
