package org.stele.client.rpc;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import javax.net.ssl.SSLException;
import org.stele.client.retry.AttemptException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.net.TlsLink;

/**
 * Makes a connected socket a secure one. Used once, by the thread that makes the connection, which
 * also does what the handshake needs of processor time.
 */
final class TlsHandshake {
  private final ClientSocket socket;
  private final TlsLink link;

  /**
   * @param link over that socket
   */
  TlsHandshake(ClientSocket socket, TlsLink link) {
    this.socket = socket;
    this.link = link;
  }

  /**
   * Shakes hands.
   *
   * @throws AttemptException if there is no time left
   * @throws SSLException if one side does not accept the other
   */
  void shake(Connector.Patience patience) throws IOException, InterruptedException {
    TlsLink.Progress progress = link.handshake();
    while (progress != TlsLink.Progress.DONE) {
      if (progress == TlsLink.Progress.NEEDS_TASKS) {
        link.runTasks();
      } else {
        boolean needsRoom = progress == TlsLink.Progress.NEEDS_ROOM;
        socket.awaits(needsRoom ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        patience.await(socket, "secured by TLS");
      }
      progress = link.handshake();
    }
  }

  /** Certificates and protocols do not become right by trying again. */
  static AttemptException denied(String server, SSLException failure) {
    return AttemptException.replied(
        server,
        new SteleException(ErrorCode.DENIED, "no secure connection: " + reason(failure), failure));
  }

  /** What is wrong with a certificate is said by the innermost of the exceptions. */
  private static String reason(SSLException failure) {
    StringBuilder text = new StringBuilder(String.valueOf(failure.getMessage()));
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      String more = String.valueOf(cause.getMessage());
      if (text.indexOf(more) < 0) {
        text.append(": ").append(more);
      }
    }
    return text.toString();
  }
}
