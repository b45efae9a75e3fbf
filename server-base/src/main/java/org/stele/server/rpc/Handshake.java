package org.stele.server.rpc;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import javax.net.ssl.SSLException;
import org.stele.core.net.NotTlsException;
import org.stele.core.net.TlsLink;

/**
 * The TLS handshake of one connection. Its selector thread advances it; what takes processor time
 * runs on {@code rpc-tls-N}, after which the connection gets attention.
 */
final class Handshake {
  /** What became of it. */
  enum Outcome {
    /** The socket, or a part that runs elsewhere, must be waited for. */
    WAITING,
    DONE,
    /** The client does not speak TLS. */
    NOT_TLS,
    /** The client was told by an alert. */
    FAILED,
    /** There is nobody to talk to. */
    GONE
  }

  // ---- Constant
  private final TlsLink link;
  private final Connection connection;
  private final TlsHandshakes handshakes;

  // ---- Used by the selector thread
  private int interest = SelectionKey.OP_READ;

  // ---- Used by all threads
  private volatile boolean runsElsewhere;

  Handshake(TlsLink link, Connection connection, TlsHandshakes handshakes) {
    this.link = link;
    this.connection = connection;
    this.handshakes = handshakes;
  }

  /** Goes on as far as it gets without waiting. */
  Outcome advance() {
    if (runsElsewhere) {
      return Outcome.WAITING;
    }
    try {
      return switch (link.handshake()) {
        case DONE -> {
          connection.endpoint().counters().handshakes.increment();
          yield Outcome.DONE;
        }
        case NEEDS_INPUT -> waitFor(SelectionKey.OP_READ);
        case NEEDS_ROOM -> waitFor(SelectionKey.OP_WRITE);
        case NEEDS_TASKS -> runElsewhere();
      };
    } catch (NotTlsException e) {
      failed(String.valueOf(e.getMessage()));
      return Outcome.NOT_TLS;
    } catch (SSLException e) {
      failed("the TLS handshake failed: " + e.getMessage());
      return Outcome.FAILED;
    } catch (IOException e) {
      connection.endpoint().counters().handshakeFailures.increment();
      return Outcome.GONE;
    }
  }

  private Outcome waitFor(int operation) {
    interest = operation;
    return Outcome.WAITING;
  }

  private Outcome runElsewhere() {
    interest = 0;
    runsElsewhere = true;
    if (handshakes.run(this::runTasks)) {
      return Outcome.WAITING;
    }
    runsElsewhere = false;
    failed("there is no thread for its TLS handshake");
    return Outcome.GONE;
  }

  private void runTasks() {
    try {
      link.runTasks(); // what goes wrong there is told by the next step
    } finally {
      runsElsewhere = false;
      connection.attend();
    }
  }

  private void failed(String reason) {
    connection.endpoint().counters().handshakeFailures.increment();
    connection.endpoint().junkLog().closed(connection.peer(), reason);
  }

  /** For which the selector is to wait. */
  int interest() {
    return interest;
  }

  /** The name in the client's certificate, or empty. */
  String peerCertificate() {
    String name = link.peerName();
    return name == null ? "" : name;
  }

  byte[] receivedBytes() {
    return link.receivedBytes();
  }
}
