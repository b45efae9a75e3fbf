package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.data.ByteWriter;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.ReplyHeader;
import org.stele.test.check.TestForm;
import org.stele.test.net.Listener;
import org.stele.test.process.Signpost;

/**
 * A server that announces replies of impossible lengths, or breaks off in the middle, whether it
 * greets rightly before or not: the call fails in time with the client's own error, and a
 * connection that lied once is not used again.
 */
class WrongServerIT {
  private static final String INSTANCE = "wrong";
  private static final int REPLY_MAX = 1 << 20;
  private static final Duration DEADLINE =
      TestForm.time(Duration.ofSeconds(1), Duration.ofSeconds(5));
  private static final Duration LIMIT = DEADLINE.plus(TestForm.generous(Duration.ofSeconds(2)));

  @TempDir private Path directory;

  /** What a server does wrong. */
  private record Lie(boolean greets, int length, int bodyBytes) {}

  @Test
  void aCallFailsInTimeAndItsConnectionIsGivenUp() throws Exception {
    List<Lie> lies = new ArrayList<>();
    for (int length : new int[] {0, -1, Integer.MIN_VALUE, REPLY_MAX + 1, Integer.MAX_VALUE, 5}) {
      for (boolean greets : new boolean[] {false, true}) {
        lies.add(new Lie(greets, length, 0));
        lies.add(new Lie(greets, length, 100));
      }
    }
    lies.add(new Lie(true, REPLY_MAX, 1000));
    lies.add(new Lie(false, REPLY_MAX, 1000));
    ExecutorService callers =
        Executors.newFixedThreadPool(lies.size(), task -> new Thread(task, "caller"));
    try (Signpost signpost = new Signpost(directory)) {
      List<Future<?>> results = new ArrayList<>();
      for (Lie lie : lies) {
        int number = results.size();
        results.add(callers.submit(() -> check(signpost, "/lie" + number, lie)));
      }
      for (Future<?> result : results) {
        getOrFail(result);
      }
    } finally {
      callers.shutdownNow();
    }
  }

  private static void getOrFail(Future<?> result) throws InterruptedException {
    try {
      result.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause().getMessage(), e.getCause());
    }
  }

  private static Void check(Signpost signpost, String path, Lie lie) throws IOException {
    List<String> faults = new CopyOnWriteArrayList<>();
    ClientOptions options =
        ClientOptions.defaults().withDeadline(DEADLINE).withMaxReplyBytes(REPLY_MAX);
    try (Listener server = new Listener(socket -> lie(socket, lie, faults));
        SteleClient client =
            SteleClient.connect(signpost.instance(path, INSTANCE, server.address()), options)) {
      long begin = System.nanoTime();
      SteleException e =
          assertThrows(SteleException.class, () -> client.lookup("people", "ada"), lie.toString());
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      assertTrue(took.compareTo(LIMIT) < 0, () -> lie + ": failed after " + took);
      assertTrue(
          e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DEADLINE_EXCEEDED,
          () -> lie + ": " + e);
      assertTrue(
          String.valueOf(e.getMessage()).contains(server.address()),
          () -> lie + ": the server is not named: " + e.getMessage());
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        boolean stray =
            cause instanceof Error
                || cause instanceof RuntimeException
                    && !cause.getClass().getName().startsWith("org.stele.");
        assertFalse(stray, lie + ": " + cause);
      }
      assertTrue(server.accepted() > 1, () -> lie + ": no second connection");
      assertEquals(List.of(), faults);
    }
    return null;
  }

  private static void lie(Socket socket, Lie lie, List<String> faults) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    readFrame(in);
    if (lie.greets) {
      ByteWriter hello = new ByteWriter();
      ReplyHeader.encodeHello(hello, 0, 1, System.nanoTime(), 1, 0, REPLY_MAX, INSTANCE);
      out.writeInt(hello.length());
      out.write(hello.array(), 0, hello.length());
      out.flush();
      readFrame(in);
    }
    out.writeInt(lie.length);
    out.write(new byte[lie.bodyBytes]);
    out.flush();
    if (lie.length == REPLY_MAX || lie.length > lie.bodyBytes && lie.length < REPLY_MAX) {
      return; // a possible length, and then the end
    }
    try {
      readFrame(in);
      faults.add(lie + ": another call came over the connection");
    } catch (EOFException e) {
      // As it should be.
      in.close();
    }
  }

  private static void readFrame(DataInputStream in) throws IOException {
    in.readFully(new byte[in.readInt()]);
  }
}
