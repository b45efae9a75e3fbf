package org.stele.tserver.wal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import org.stele.core.data.Bytes;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;

/** What the tests of the log share. */
final class LogTesting {
  static final String DIRECTORY = "wal/s1/data";

  private LogTesting() {}

  static CrashableFileStore newStore() {
    CrashableFileStore store = new CrashableFileStore();
    try {
      store.makeDirectory(DIRECTORY);
      store.makeDirectory("wal/s2/data");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return store;
  }

  /** What is there after the process was killed now. */
  static CrashableFileStore killed(CrashableFileStore store) {
    CrashableFileStore copy = store.copy();
    copy.kill();
    return copy;
  }

  /** What is there after the machine has crashed now. */
  static CrashableFileStore crashed(CrashableFileStore store, Random random) {
    CrashableFileStore copy = store.copy();
    copy.crash(random.nextLong());
    return copy;
  }

  static GroupCommitLog.Options options(long fileBytes) {
    return options(DIRECTORY, fileBytes, 64 << 20);
  }

  static GroupCommitLog.Options options(String directory, long fileBytes, long queueBytes) {
    return new GroupCommitLog.Options(
        directory, "instance", "s1", "", fileBytes, queueBytes, Duration.ofSeconds(20));
  }

  static LongSupplier salts() {
    long[] next = {0x1234_5678_9abcL};
    return () -> next[0] = next[0] * 6364136223846793005L + 1442695040888963407L;
  }

  static GroupCommitLog stepped(FileStore store, long fileBytes) throws IOException {
    return GroupCommitLog.withoutThreads(
        store, options(fileBytes), Clock.system(), salts(), broken -> {});
  }

  /** Does all there is to do. */
  static void run(GroupCommitLog log) {
    boolean worked = true;
    while (worked) {
      worked = log.syncStep();
      worked |= log.applyStep();
    }
  }

  static String path(long number) {
    return LogName.path(DIRECTORY, number);
  }

  /** The values of a tablet's records, as "first sequence:value". */
  static List<String> recover(LogDirectory directory, String tabletId, long above)
      throws IOException {
    List<String> values = new ArrayList<>();
    try (LogCursor cursor = directory.records(tabletId, epoch -> true, above)) {
      for (LogRecord found = cursor.next(); found != null; found = cursor.next()) {
        found.visitCells(
            above,
            (sequence, array, keyOffset, keyLength, valueOffset, valueLength) ->
                values.add(
                    Long.toHexString(sequence)
                        + ":"
                        + Bytes.of(array, valueOffset, valueLength).toUtf8()));
      }
    }
    return values;
  }

  static List<String> recover(FileStore store, String tabletId) throws IOException {
    return recover(LogDirectory.read(store, DIRECTORY), tabletId, 0);
  }

  /** What {@link #recover} gives for these entries. */
  static List<String> expected(List<TestTablet.TestEntry> entries) {
    List<String> values = new ArrayList<>();
    for (TestTablet.TestEntry entry : entries) {
      for (int i = 0; i < entry.values.length; i++) {
        values.add(Long.toHexString(entry.first + i) + ":" + entry.values[i]);
      }
    }
    return values;
  }
}
