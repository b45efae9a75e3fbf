package org.stele.server.rpc;

import java.util.ArrayList;
import java.util.List;

/**
 * Gathers the replies that one thread gives to many calls in a row, such as the thread that applies
 * a group of logged writes, so that each connection gets one write:
 *
 * <pre>
 *   try (ReplyBatch batch = ReplyBatch.open()) {
 *     … call.reply(…) for each
 *   }
 * </pre>
 *
 * <p>Owned by the thread that opened it. Opening one inside another is allowed: the outer one
 * writes.
 */
public final class ReplyBatch implements AutoCloseable {
  private final ReplyScratch scratch;
  private final boolean outermost;
  private final List<Connection> connections = new ArrayList<>();

  private ReplyBatch(ReplyScratch scratch) {
    this.scratch = scratch;
    outermost = scratch.batch == null;
  }

  /** From now on replies of this thread wait for {@link #close}. */
  public static ReplyBatch open() {
    ReplyScratch scratch = ReplyScratch.ofThread();
    ReplyBatch batch = new ReplyBatch(scratch);
    if (batch.outermost) {
      scratch.batch = batch;
    }
    return batch;
  }

  /** A connection that got replies in this batch. */
  void add(Connection connection) {
    if (connections.isEmpty() || connections.get(connections.size() - 1) != connection) {
      connections.add(connection);
    }
  }

  /** Writes the replies. */
  @Override
  public void close() {
    if (!outermost) {
      return;
    }
    scratch.batch = null;
    for (Connection connection : connections) {
      connection.replies().flush();
    }
    connections.clear();
  }
}
