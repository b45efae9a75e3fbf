package org.stele.server.process;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes parts in the reverse of the order in which they were added. One that fails does not keep
 * the others open: the first failure is thrown at the end, with the later ones suppressed in it.
 * Idempotent; thread-safe.
 */
public final class Closer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Closer.class);

  @GuardedBy("this")
  private final Deque<Part> parts = new ArrayDeque<>();

  /**
   * Adds a part that was just made or started.
   *
   * @param name for the log
   * @return the part
   */
  public synchronized <T extends AutoCloseable> T add(String name, T part) {
    parts.push(new Part(name, part));
    return part;
  }

  @Override
  public void close() throws IOException {
    IOException first = null;
    for (Part part = next(); part != null; part = next()) {
      try {
        LOG.debug("closing {}", part.name);
        part.closeable.close();
      } catch (Throwable e) { // an error, too, as when no thread can be made
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
        if (first == null) {
          first = new IOException("could not close " + part.name + ": " + e.getMessage(), e);
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  private synchronized @Nullable Part next() {
    return parts.poll();
  }

  private record Part(String name, AutoCloseable closeable) {}
}
