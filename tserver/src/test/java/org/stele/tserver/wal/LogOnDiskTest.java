package org.stele.tserver.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.expected;
import static org.stele.tserver.wal.LogTesting.options;
import static org.stele.tserver.wal.LogTesting.recover;
import static org.stele.tserver.wal.LogTesting.salts;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.data.Durability;
import org.stele.core.file.FileStore;
import org.stele.core.file.LocalFileStore;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.TestTablet.Outcome;
import org.stele.tserver.wal.TestTablet.TestEntry;

/** The log on a real disk, with room reserved ahead. */
class LogOnDiskTest {
  @Test
  void whatWasWrittenIsReadWhileTheLogIsOpenAndAfterItWasClosed(@TempDir Path directory)
      throws Exception {
    try (FileStore store = LocalFileStore.open(directory)) {
      store.makeDirectory(DIRECTORY);
      TestTablet tablet = new TestTablet("a", 1);
      GroupCommitLog log =
          GroupCommitLog.start(store, options(64 << 10), Clock.system(), salts(), broken -> {});
      for (int i = 0; i < 400; i++) {
        TestEntry entry = tablet.entry(Durability.SYNC, "v".repeat(500) + i);
        log.append(entry);
        assertEquals(Outcome.COMMITTED, entry.await());
      }
      assertTrue(log.files().size() > 2);
      List<TestEntry> all = new ArrayList<>(tablet.applied);
      assertEquals(expected(all), recover(store, "a")); // as after a kill
      log.close();
      LogDirectory recovered = LogDirectory.read(store, DIRECTORY);
      assertEquals(expected(all), recover(recovered, "a", 0));
      assertTrue(recovered.logs().stream().allMatch(LogDirectory.Summary::complete));
    }
  }
}
