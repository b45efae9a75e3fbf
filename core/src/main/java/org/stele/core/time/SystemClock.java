package org.stele.core.time;

/** The clock of this machine. */
enum SystemClock implements Clock {
  INSTANCE;

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }
}
