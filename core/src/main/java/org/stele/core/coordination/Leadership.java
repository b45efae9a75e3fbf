package org.stele.core.coordination;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/**
 * A candidacy for the coordinator's role: of all candidates the one that came first has it. It is
 * given up when the connection to ZooKeeper is lost, at the latest when the session is over; what a
 * former leader still sends is stopped by the coordinator's epoch in the metadata, not by this
 * class. Thread-safe.
 */
public final class Leadership implements AutoCloseable {
  private final LeaderLatch latch;

  Leadership(CuratorFramework curator, String path, String candidate, Listener listener) {
    latch = new LeaderLatch(curator, path, candidate, LeaderLatch.CloseMode.NOTIFY_LEADER);
    latch.addListener(
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            listener.leading();
          }

          @Override
          public void notLeader() {
            listener.notLeading();
          }
        });
    try {
      latch.start();
    } catch (Exception e) {
      throw new CoordinationException(
          CoordinationException.Reason.REFUSED, "cannot stand for " + path, e);
    }
  }

  public boolean isLeader() {
    return latch.hasLeadership();
  }

  /** Gives the role up, or the wish for it. Idempotent. */
  @Override
  public void close() {
    if (latch.getState() != LeaderLatch.State.STARTED) {
      return;
    }
    try {
      latch.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Hears of the role. Called on ZooKeeper's event thread: must not block. */
  public interface Listener {
    void leading();

    void notLeading();
  }
}
