package org.stele.server.rpc;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.time.Clock;

/**
 * Tells the operator about peers that misbehave and handlers that fail: for each address and each
 * kind of failure at most one line a second, with the number of those that were not mentioned.
 * However many addresses misbehave, there are few lines. Thread-safe.
 */
final class JunkLog {
  private static final Logger LOG = LoggerFactory.getLogger(JunkLog.class);

  /** Addresses that have a line a second each; all further ones share one. */
  private static final int ADDRESSES = 16;

  private static final int FAILURES = 64;

  private final LineTurns<InetAddress> addresses;
  private final LineTurns<String> failures;

  JunkLog(Clock clock) {
    addresses = new LineTurns<>(ADDRESSES, clock);
    failures = new LineTurns<>(FAILURES, clock);
  }

  void closed(InetSocketAddress peer, String reason) {
    long more = addresses.take(peer.getAddress());
    if (more != LineTurns.SILENT) {
      LOG.warn("Closed the connection from {}: {}{}", peer, reason, silencedText(more));
    }
  }

  /**
   * @param what of a small number of texts
   */
  void failed(String what, Throwable failure) {
    long more = failures.take(what);
    if (more != LineTurns.SILENT) {
      LOG.error("{}{}", what, silencedText(more), failure);
    }
  }

  private static String silencedText(long more) {
    return more == 0 ? "" : " (" + more + " more like it before were left out)";
  }
}
