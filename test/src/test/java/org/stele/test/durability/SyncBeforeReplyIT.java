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
   * Puts come one after the other, so each has its own log write, sync and reply, in this order.
   */
  private static void check(List<String> trace) {
    Pattern logWrite =
        Pattern.compile("p?write(?:v|64)?\\(\\d+<[^>]*\\.wal>.*?" + MARK + "(\\d+)\\.");
    Pattern syncWhole = Pattern.compile("f(?:data)?sync\\(\\d+<[^>]*\\.wal>\\)\\s+= 0");
    Pattern syncBegun =
        Pattern.compile("^(\\d+)\\s+f(?:data)?sync\\(\\d+<[^>]*\\.wal> <unfinished");
    Pattern syncEnded = Pattern.compile("^(\\d+)\\s+<\\.\\.\\. f(?:data)?sync resumed>\\)\\s+= 0");
    Pattern reply =
        Pattern.compile("(?:write|writev|sendto|sendmsg)\\(\\d+<(?:TCP|socket|TCPv6).*");
    int written = -1;
    boolean synced = false;
    String syncing = "";
    int replies = 0;
    for (String line : trace) {
      Matcher write = logWrite.matcher(line);
      Matcher begun = syncBegun.matcher(line);
      Matcher ended = syncEnded.matcher(line);
      if (write.find()) {
        written = Integer.parseInt(write.group(1));
        synced = false;
        syncing = "";
      } else if (syncWhole.matcher(line).find()) {
        synced = true;
      } else if (begun.find()) {
        syncing = begun.group(1);
      } else if (ended.find() && ended.group(1).equals(syncing)) {
        synced = true;
      } else if (written >= 0 && reply.matcher(line).find() && !line.contains(MARK)) {
        int put = written;
        assertTrue(
            synced, () -> "the reply to put " + put + " was sent before its sync ended: " + line);
        replies++;
        written = -1;
      }
    }
    assertEquals(PUTS, replies, "log writes that were followed by a sync and a reply");
  }
}
