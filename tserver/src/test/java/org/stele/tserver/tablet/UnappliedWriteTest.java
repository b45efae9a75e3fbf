package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.tserver.wal.LogEntry;
import org.stele.tserver.wal.LogMetrics;
import org.stele.tserver.wal.WriteAheadLog;
import org.stele.tserver.write.WriteFailure;

/** A write that is in the log and cannot be added to the memtable, or only a part of it. */
class UnappliedWriteTest {
  @Test
  void nothingIsSeenOfATabletWithAPartOfAWrite() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.extent = new TabletExtent(TabletFixture.TABLE, null, Bytes.of("m"));
    TabletFixture fixture = new TabletFixture(options);
    try {
      Tablet tablet = tabletOf(fixture, new RepeatingLog(fixture.log.metrics()));
      long published = tablet.publishedSequence();
      List<WriteFailure> failures =
          fixture
              .write(Mutation.of("n").put("f", "a", "1").put("f", "b", "2"))
              .get(10, TimeUnit.SECONDS);
      assertEquals(ErrorCode.UNKNOWN_OUTCOME, failures.get(0).error().code());
      assertEquals(published + 2, tablet.publishedSequence());
      assertEquals(TabletState.FAILED, tablet.state());
      SteleException refused =
          assertThrows(SteleException.class, () -> fixture.lookup(Bytes.of("n")));
      assertEquals(ErrorCode.NOT_SERVING, refused.code());
      assertEquals(
          ErrorCode.NOT_SERVING,
          fixture
              .write(Mutation.of("n").put("f", "c", "3"))
              .get(10, TimeUnit.SECONDS)
              .get(0)
              .error()
              .code());
    } finally {
      fixture.close();
    }
  }

  private static Tablet tabletOf(TabletFixture fixture, WriteAheadLog log) throws Exception {
    Tablet tablet =
        new Tablet(
            new TabletDescription(
                new TabletIdentity("tablet2", TabletFixture.TABLE, 1),
                new TabletExtent(TabletFixture.TABLE, Bytes.of("m"), null),
                List.of(),
                0,
                0,
                fixture.settings,
                false),
            new TabletEnvironment(
                fixture.clock,
                fixture.files,
                new MemoryCatalog(),
                log,
                fixture.memory,
                1 << 20,
                fixture.flusher));
    tablet.open();
    fixture.map.add(tablet);
    return tablet;
  }

  /** Has each entry applied twice: the memtable refuses the second time. */
  private static final class RepeatingLog implements WriteAheadLog {
    private final LogMetrics metrics;

    RepeatingLog(LogMetrics metrics) {
      this.metrics = metrics;
    }

    @Override
    public boolean append(LogEntry entry) {
      if (entry.place()) {
        entry.committed();
        assertThrows(IllegalStateException.class, entry::committed);
        entry.failed(new SteleException(ErrorCode.UNKNOWN_OUTCOME, "it could not be applied"));
      }
      return true;
    }

    @Override
    public long waitingBytes() {
      return 0;
    }

    @Override
    public Optional<Exception> broken() {
      return Optional.empty();
    }

    @Override
    public void roll() {}

    @Override
    public List<LogFile> files() {
      return List.of();
    }

    @Override
    public void flushed(String tabletId, long sequence) {}

    @Override
    public LogMetrics metrics() {
      return metrics;
    }

    @Override
    public void close() {}
  }
}
