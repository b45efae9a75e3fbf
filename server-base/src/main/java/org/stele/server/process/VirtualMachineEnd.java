package org.stele.server.process;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process it runs in, whatever state the virtual machine is in.
 *
 * <p>Neither {@code Runtime.exit} nor {@code Runtime.halt} is enough: both wait for the threads of
 * the garbage collector to end, and for ever if one of them could not be started because the
 * process had no more threads (seen with G1 of Java 17, and its refinement threads). Such a process
 * would hold its locks and do nothing. So halting is done by a thread of its own; if that cannot be
 * made, or is not done in time, an array that no virtual machine can have is asked for: a server
 * runs with {@code -XX:+ExitOnOutOfMemoryError} (see bin/stele), and that exit waits for nothing.
 * Its code is 3, as for a server that runs out of heap.
 */
final class VirtualMachineEnd implements ProcessEnd {
  private static final Logger LOG = LoggerFactory.getLogger(VirtualMachineEnd.class);

  private static final Duration HALT = Duration.ofSeconds(5);

  @Override
  public void halt(int exitCode) {
    try {
      Thread halt = new Thread(() -> Runtime.getRuntime().halt(exitCode), "halt");
      halt.setDaemon(true);
      halt.start();
      halt.join(HALT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      LOG.warn("no thread can be made to halt the process", e);
    }
    force();
  }

  @Override
  public void force() {
    LOG.warn("the virtual machine does not end by itself, and is made to, with exit code 3");
    try {
      long[] impossible = new long[Integer.MAX_VALUE];
      LOG.error("the process hangs at its end, with an array of {} longs", impossible.length);
    } catch (OutOfMemoryError e) {
      LOG.error("the process hangs at its end: start servers with -XX:+ExitOnOutOfMemoryError", e);
    }
  }
}
