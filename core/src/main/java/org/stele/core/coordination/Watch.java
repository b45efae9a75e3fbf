package org.stele.core.coordination;

/** A running watch; closing ends it. */
public interface Watch extends AutoCloseable {
  @Override
  void close();
}
