package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import org.stele.client.BatchWriter;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;

/**
 * Many threads with a connection each that scan a table for what is not in it, as fast as they are
 * answered: work for the server's workers.
 */
final class VainScans implements AutoCloseable {
  private static final String TABLE = "large";
  private static final int ROWS = 100_000;
  private static final Duration SILENCE = TestForm.generous(Duration.ofSeconds(20));

  private final int port;
  private final byte[] scan;
  private final List<Thread> threads = new ArrayList<>();
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private volatile boolean closed;

  private VainScans(int port, String tableId) {
    this.port = port;
    scan = CompactCall.vainScan(tableId);
  }

  /** Makes the table. */
  static VainScans of(SteleClient client, int port) {
    client.tables().create(TABLE);
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of("row" + i).put("f", "q", "value " + i));
      }
    }
    return new VainScans(port, client.tables().describe(TABLE).id());
  }

  void start(int count) {
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(this::run, "vain-scan-" + i);
      threads.add(thread);
      thread.start();
    }
  }

  private void run() {
    while (!closed) {
      try (RawSocket socket = RawSocket.connect(port)) {
        while (!closed) {
          count(CompactReply.of(socket.call(scan, SILENCE)));
        }
      } catch (EOFException | SocketException | SSLException e) {
        refused.incrementAndGet(); // a quick end of the connection is an answer too
      } catch (IOException | AssertionError e) {
        faults.add(e.toString());
        return;
      }
    }
  }

  private void count(CompactReply reply) {
    if (reply.kind() == CompactReply.Kind.RESULT) {
      answered.incrementAndGet();
    } else if (reply.errorCode() == CompactReply.BUSY) {
      refused.incrementAndGet();
    } else {
      faults.add("answered " + reply);
    }
  }

  /** Waits until so many scans were answered, and as many refused at once. */
  void await(int count) {
    Conditions.await(
        count + " scans answered and as many refused",
        TestForm.generous(Duration.ofSeconds(30)),
        () -> answered.get() >= count && refused.get() >= count || !faults.isEmpty());
    assertEquals(List.of(), faults);
  }

  long answered() {
    return answered.get();
  }

  @Override
  public void close() {
    closed = true;
    for (Thread thread : threads) {
      try {
        thread.join(SILENCE.toMillis());
        assertTrue(!thread.isAlive(), thread.getName() + " still waits for its answer");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    assertEquals(List.of(), faults);
  }
}
