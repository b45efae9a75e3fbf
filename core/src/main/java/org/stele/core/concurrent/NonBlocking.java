package org.stele.core.concurrent;

/**
 * Marks the stretches in which a thread must not block, because it serves many connections (a
 * selector thread that runs a handler). What is about to read a file, wait for a log or take a lock
 * that is held for long calls {@link #assertMayBlock()} first; a call that meets the exception is
 * begun anew on a worker thread.
 */
public final class NonBlocking {
  private static final ThreadLocal<boolean[]> ACTIVE =
      ThreadLocal.withInitial(() -> new boolean[1]);

  private NonBlocking() {}

  /** Begins a stretch on this thread. */
  public static void enter() {
    ACTIVE.get()[0] = true;
  }

  public static void exit() {
    ACTIVE.get()[0] = false;
  }

  public static boolean isActive() {
    return ACTIVE.get()[0];
  }

  /**
   * Returns if this thread may block.
   *
   * @throws WouldBlockException if it must not
   */
  public static void assertMayBlock() {
    if (isActive()) {
      throw WouldBlockException.INSTANCE;
    }
  }
}
