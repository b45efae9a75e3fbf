package org.stele.tserver.bench;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One of the systems that a benchmark compares: a server process that is ready, and clients that
 * load it. Used by one thread.
 */
interface MeasuredSystem extends AutoCloseable {
  /** As the JSON key {@code system} names it. */
  String name();

  /**
   * Loads it at one level.
   *
   * @param callers how many calls are under way at a time
   */
  LevelResult run(int callers, Duration warmUp, Duration measure);

  /** What its JSON objects have beside the common keys. */
  Map<String, @Nullable Object> description();

  @Override
  void close();
}
