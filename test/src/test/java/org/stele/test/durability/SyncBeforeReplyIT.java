package org.stele.test.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.process.StandaloneServer;
import org.stele.test.process.SystemCalls;

/**
 * For single puts, a completed {@code fdatasync} of the log lies between the write into the log and
 * the reply: seen in the system calls of a real server. ({@code kill -9} alone keeps the page cache
 * and proves nothing about the disk.)
 */
class SyncBeforeReplyIT {
  private static final int PUTS = 50;

  private static final List<String> CALLS =
      List.of("write", "writev", "pwrite64", "pwritev", "sendto", "sendmsg", "fdatasync", "fsync");

  /** Marks the value of each put, to find it in the arguments of write calls. */
  private static final String MARK = "syncmark";

  @TempDir private Path directory;

  @Test
  void aSyncLiesBetweenLogWriteAndReply() throws Exception {
    assumeTrue(SystemCalls.canBeSeen(), "strace is not installed");
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), Map.of());
        SteleClient client = server.client()) {
      client.tables().create("puts");
      client.write("puts", Mutation.of("warm").put("f", "q", "up"));
      try (SystemCalls calls =
          SystemCalls.attach(server.pid(), 4096, CALLS, directory.resolve("trace"))) {
        for (int i = 0; i < PUTS; i++) {
          client.write("puts", Mutation.of("row" + i).put("f", "q", MARK + i + "."));
        }
        check(calls.detach());
      }
    }
  }

  /**
   * Puts come one after the other, so each has its own log write, sync and reply, in this order. Of
   * the syncs only one counts that begins after the write into that file has ended, on that file:
   * other logs are synced as well.
   */
  private static void check(List<String> trace) {
    int replies = 0;
    LoggedPut put = null;
    for (String line : trace) {
      Matcher write = LOG_WRITE.matcher(line);
      if (write.find()) {
        put = new LoggedPut(write.group("log"), write.group("put"));
      }
      if (put == null) {
        continue;
      }
      put.see(line);
      if (REPLY.matcher(line).find()) {
        String number = put.number;
        assertTrue(
            put.isSynced(),
            () -> "the reply to put " + number + " was sent before its log was synced: " + line);
        replies++;
        put = null;
      }
    }
    assertEquals(PUTS, replies, "log writes that were followed by a sync and a reply");
  }

  private static final Pattern LOG_WRITE =
      Pattern.compile("p?write(?:v|64)?\\(\\d+<(?<log>[^>]*\\.wal)>.*?" + MARK + "(?<put>\\d+)\\.");

  private static final Pattern REPLY =
      Pattern.compile("(?:write|writev|sendto|sendmsg)\\(\\d+<(?:TCP|socket)");

  /** A put whose record is being written into a log, and what of it is on the disk. */
  private static final class LoggedPut {
    final String number;
    private final Pattern sync;

    /** The call of the write or the sync that this waits for, if it is under way. */
    private String pending = "";

    private boolean written;
    private boolean synced;

    LoggedPut(String log, String number) {
      this.number = number;
      this.sync = Pattern.compile("f(?:data)?sync\\(\\d+<" + Pattern.quote(log) + ">");
    }

    /** The next line of the trace; the first is the one with the write. */
    void see(String line) {
      String thread = line.substring(0, line.indexOf(' '));
      boolean own = !written && pending.isEmpty() || written && sync.matcher(line).find();
      boolean ended = line.contains(" resumed>") && thread.equals(pending);
      if (own && line.endsWith("<unfinished ...>")) {
        pending = thread;
      } else if (own || ended) {
        pending = "";
        boolean succeeded = RESULT.matcher(line).find();
        synced |= written && succeeded;
        written |= succeeded;
      }
    }

    boolean isSynced() {
      return synced;
    }
  }

  /** What calls return that do what they should. */
  private static final Pattern RESULT = Pattern.compile("\\)\\s+= \\d+$");
}
