package org.stele.tserver.recovery;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.time.ManualClock;
import org.stele.tserver.tablet.TabletFixture;
import org.stele.tserver.wal.LogDirectory;
import org.stele.tserver.wal.LogDirectory.Damage;

/** Damaged logs, for as long as an operator thinks. */
class RecoveredLogsTest {
  private static final String DIRECTORY = "wal/5e551.fenced/data";
  private static final String LOG = DIRECTORY + "/00000001.wal";

  private final ManualClock clock = new ManualClock();
  private CrashableFileStore store;
  private RecoveredLogs logs;
  private byte[] whole;

  @BeforeEach
  void writeALogAndDamageIt() throws Exception {
    TabletFixture engine = new TabletFixture(new TabletFixture.Options());
    store = engine.store;
    for (int i = 0; i < 10; i++) {
      engine.writeNow(Mutation.of("row" + i).put("f", "q", "value-of-" + i + "."));
    }
    engine.stopMachine();
    engine.writes.close();
    store.rename("wal/5e551", "wal/5e551.fenced");
    whole = store.contents(LOG);
    damage();
    logs = new RecoveredLogs(store, new LogDirectories(store, path -> {}), clock);
  }

  private void damage() throws IOException {
    store.flip(LOG, new String(whole, ISO_8859_1).indexOf("value-of-5."), 1);
  }

  /** Reads of another round of openings; how many bytes that took. */
  private long bytesOfARound() throws IOException {
    long before = store.bytesRead();
    read();
    read();
    logs.forget();
    return store.bytesRead() - before;
  }

  private List<Damage> read() throws IOException {
    LogDirectory read = logs.of("5e551", false);
    return read.damage();
  }

  @Test
  void readsADamagedLogOnce() throws IOException {
    assertTrue(bytesOfARound() >= whole.length);
    for (int round = 0; round < 20; round++) {
      assertTrue(bytesOfARound() < whole.length / 2);
    }
    assertEquals(1, read().size());
  }

  @Test
  void seesThatAnOperatorAcceptsTheLoss() throws IOException {
    bytesOfARound();
    store.setContents(LOG + ".accepted-loss", new byte[0]);
    assertTrue(read().get(0).accepted());
  }

  @Test
  void seesAGoodCopyOfTheSameLength() throws IOException {
    bytesOfARound();
    store.setContents(LOG, whole);
    assertEquals(List.of(), read());
  }

  @Test
  void readsAnewFromTimeToTime() throws IOException {
    bytesOfARound();
    clock.advance(Duration.ofMinutes(6));
    assertTrue(bytesOfARound() >= whole.length);
  }

  @Test
  void keepsNothingOfLogsThatAreWhole() throws IOException {
    store.setContents(LOG, whole);
    bytesOfARound();
    damage();
    store.delete(LOG + ".index");
    assertFalse(read().isEmpty());
  }
}
