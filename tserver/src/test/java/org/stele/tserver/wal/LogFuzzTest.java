package org.stele.tserver.wal;

import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.path;
import static org.stele.tserver.wal.LogTesting.recover;
import static org.stele.tserver.wal.LogTesting.run;
import static org.stele.tserver.wal.LogTesting.stepped;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Durability;
import org.stele.core.file.CrashableFileStore;

/**
 * Whatever bytes a log holds: reading ends, with records or with an IOException, in little memory.
 */
class LogFuzzTest {
  private static final int ROUNDS = Boolean.getBoolean("stele.long") ? 100_000 : 2_000;

  private static void readAll(CrashableFileStore store) {
    for (String tablet : new String[] {"a", "b"}) {
      try {
        recover(store, tablet);
      } catch (IOException e) {
        // is allowed: the log is damaged
      }
    }
    try {
      PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
      LogDump.dump(store, path(1), out);
    } catch (IOException e) {
      // is allowed as well
    }
  }

  @Test
  void randomBytes() throws IOException {
    long seed = new Random().nextLong();
    for (int i = 0; i < ROUNDS; i++) {
      Random random = new Random(seed + i);
      byte[] bytes = new byte[random.nextInt(500)];
      random.nextBytes(bytes);
      read(bytes, seed + i);
    }
  }

  @Test
  void damagedLogs() throws IOException {
    CrashableFileStore store = LogTesting.newStore();
    TestTablet a = new TestTablet("a", 1);
    TestTablet b = new TestTablet("b", 2);
    GroupCommitLog log = stepped(store, 3000);
    for (int i = 0; i < 20; i++) {
      log.append((i % 3 == 0 ? a : b).entry(Durability.SYNC, "value " + i));
      run(log);
    }
    log.close();
    byte[] whole = store.contents(path(1));
    long seed = new Random().nextLong();
    for (int i = 0; i < ROUNDS; i++) {
      Random random = new Random(seed + i);
      byte[] bytes = Arrays.copyOf(whole, random.nextInt(whole.length + 1000));
      int header = random.nextInt(10) == 0 ? 0 : 100; // mostly leave it whole, to get further
      for (int j = random.nextInt(10); j > 0 && bytes.length > header; j--) {
        int from = header + random.nextInt(bytes.length - header);
        int length = Math.min(bytes.length - from, 1 + random.nextInt(60));
        switch (random.nextInt(3)) {
          case 0 -> bytes[from] = (byte) random.nextInt();
          case 1 -> Arrays.fill(bytes, from, from + length, (byte) 0);
          default ->
              System.arraycopy(
                  bytes, random.nextInt(bytes.length - length + 1), bytes, from, length);
        }
      }
      read(bytes, seed + i);
    }
  }

  private static void read(byte[] bytes, long seed) throws IOException {
    CrashableFileStore store = LogTesting.newStore();
    store.setContents(DIRECTORY + "/" + LogName.of(1), bytes);
    try {
      readAll(store);
    } catch (RuntimeException | Error e) {
      throw new AssertionError("with seed " + seed + "L", e);
    }
  }
}
