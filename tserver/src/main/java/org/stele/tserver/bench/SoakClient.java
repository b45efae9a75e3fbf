package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Connects again and again and does something with each connection, by chance: calls, goes, cuts,
 * resets, closes one half, sends what is no call; or keeps it without a word, with part of a frame,
 * or without taking its reply, until the server must have closed it. One thread.
 */
final class SoakClient implements Runnable {
  private static final int LARGE_REPLY = 8 << 20;
  private static final int SMALL_BUFFER = 16 << 10;
  private static final int HELD = 32;
  private static final byte[] JUNK = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(US_ASCII);

  /** A connection that waits for the server to close it. */
  private record Waiting(PlainPing connection, String what, long sinceNanos) {}

  private final InetSocketAddress server;
  private final Random random;
  private final long heldNanos;
  private final BooleanSupplier ended;
  private final LongAdder connections;
  private final Consumer<String> failures;
  private final Deque<Waiting> held = new ArrayDeque<>();

  /**
   * @param heldNanos after which the server has closed every connection that it must close
   * @param failures gets a line for each thing that was not as it should be
   */
  SoakClient(
      InetSocketAddress server,
      long seed,
      long heldNanos,
      BooleanSupplier ended,
      LongAdder connections,
      Consumer<String> failures) {
    this.server = server;
    this.random = new Random(seed);
    this.heldNanos = heldNanos;
    this.ended = ended;
    this.connections = connections;
    this.failures = failures;
  }

  @Override
  public void run() {
    while (!ended.getAsBoolean()) {
      int what = random.nextInt(100);
      try {
        connections.increment();
        act(what);
        checkHeld();
      } catch (IOException | RuntimeException e) {
        failures.accept("connection of kind " + what + ": " + e);
      }
    }
    held.forEach(waiting -> close(waiting.connection));
  }

  private void act(int what) throws IOException {
    if (what < 6 && held.size() < HELD) {
      hold(what);
      return;
    }
    try (PlainPing connection = new PlainPing(server, 0)) {
      if (what < 50) {
        connection.call();
      } else if (what < 55) {
        return; // it came for nothing
      } else if (what < 65) {
        byte[] frame = PlainPing.frame(PlainPing.REPLY_BYTES);
        connection.send(frame, random.nextInt(frame.length));
        cut(connection);
      } else if (what < 75) {
        byte[] frame = PlainPing.frame(PlainPing.REPLY_BYTES);
        connection.send(frame, frame.length);
        cut(connection);
      } else if (what < 82) {
        byte[] frame = PlainPing.frame(LARGE_REPLY);
        connection.send(frame, frame.length);
        connection.read(random.nextInt(1 << 20));
        cut(connection);
      } else if (what < 92) {
        byte[] frame = PlainPing.frame(PlainPing.REPLY_BYTES);
        connection.send(frame, frame.length);
        connection.endOutput();
        connection.readReply();
        connection.readToEnd();
      } else {
        connection.send(JUNK, JUNK.length);
        awaitEnd(connection, "junk");
      }
    }
  }

  private void cut(PlainPing connection) throws IOException {
    if (random.nextBoolean()) {
      connection.reset();
    } else {
      connection.close();
    }
  }

  private void hold(int what) throws IOException {
    String name = what < 2 ? "silent" : what < 4 ? "slow" : "deaf";
    PlainPing connection = new PlainPing(server, name.equals("deaf") ? SMALL_BUFFER : 0);
    held.add(new Waiting(connection, name, System.nanoTime()));
    if (name.equals("slow")) {
      connection.send(PlainPing.frame(PlainPing.REPLY_BYTES), 20);
    } else if (name.equals("deaf")) {
      byte[] frame = PlainPing.frame(LARGE_REPLY);
      connection.send(frame, frame.length);
    }
  }

  private void checkHeld() {
    Waiting first = held.peekFirst();
    if (first != null && System.nanoTime() - first.sinceNanos > heldNanos) {
      held.removeFirst();
      try {
        if (awaitEnd(first.connection, first.what) >= LARGE_REPLY) {
          failures.accept("a deaf connection was kept until it heard");
        }
      } finally {
        close(first.connection);
      }
    }
  }

  private long awaitEnd(PlainPing connection, String what) {
    try {
      return connection.readToEnd();
    } catch (SocketTimeoutException e) {
      failures.accept("a " + what + " connection is not closed");
      return 0;
    } catch (SocketException e) { // a reset is an end, too
      return 0;
    } catch (IOException e) {
      failures.accept("a " + what + " connection: " + e);
      return 0;
    }
  }

  private void close(PlainPing connection) {
    try {
      connection.close();
    } catch (IOException e) {
      failures.accept("a connection cannot be closed: " + e);
    }
  }
}
