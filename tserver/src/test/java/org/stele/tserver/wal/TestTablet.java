package org.stele.tserver.wal;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.Durability;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Sequence;
import org.stele.core.data.WriterStamp;

/** A tablet as the log sees it: gives out sequences, makes entries, remembers what was applied. */
final class TestTablet {
  final String id;
  final int epoch;
  final List<TestEntry> applied = Collections.synchronizedList(new ArrayList<>());

  /** All that heard from the log, in that order. */
  final List<TestEntry> told = Collections.synchronizedList(new ArrayList<>());

  volatile boolean takesWrites = true;
  volatile long published;
  private long counter;

  TestTablet(String id, int epoch) {
    this.id = id;
    this.epoch = epoch;
  }

  TestEntry entry(Durability durability, String... values) {
    return new TestEntry(this, durability, values);
  }

  enum Outcome {
    NONE,
    NOT_PLACED,
    COMMITTED,
    FAILED,
    REFUSED
  }

  static final class TestEntry implements LogEntry {
    final TestTablet tablet;
    final Durability durability;
    final String[] values;
    final CountDownLatch told = new CountDownLatch(1);
    volatile Outcome outcome = Outcome.NONE;
    volatile Exception cause;
    volatile boolean poisoned;
    volatile String thread = "";
    WriterStamp writer = WriterStamp.NONE;
    long first;
    int times;

    TestEntry(TestTablet tablet, Durability durability, String... values) {
      this.tablet = tablet;
      this.durability = durability;
      this.values = values;
    }

    @Override
    public int sizeHint() {
      int size = 50;
      for (String value : values) {
        size += 50 + value.length();
      }
      return size;
    }

    @Override
    public Durability durability() {
      return durability;
    }

    @Override
    public boolean place() {
      if (!tablet.takesWrites) {
        told(Outcome.NOT_PLACED);
        return false;
      }
      first = Sequence.of(tablet.epoch, tablet.counter + 1);
      tablet.counter += values.length;
      return true;
    }

    @Override
    public long epoch() {
      return tablet.epoch;
    }

    @Override
    public String tabletId() {
      return tablet.id;
    }

    @Override
    public long firstSequence() {
      return first;
    }

    @Override
    public long lastSequence() {
      return first + values.length - 1;
    }

    @Override
    public WriterStamp writer() {
      return writer;
    }

    @Override
    public void encode(ByteWriter out) {
      for (int i = 0; i < values.length; i++) {
        byte[] key =
            KeyCodec.encode(
                Bytes.of("row"),
                Bytes.of("f"),
                Bytes.of("q"),
                Bytes.EMPTY,
                1,
                first + i,
                CellType.PUT);
        byte[] value = Bytes.of(values[i]).unsafeArray();
        LogCells.write(out, key, 0, key.length, value, 0, value.length);
      }
      if (poisoned) {
        out.writeByte(1);
      }
    }

    @Override
    public void committed() {
      tablet.applied.add(this);
      tablet.published = lastSequence();
      told(Outcome.COMMITTED);
    }

    @Override
    public void failed(Exception why) {
      cause = why;
      told(Outcome.FAILED);
    }

    @Override
    public void refused(Exception why) {
      cause = why;
      told(Outcome.REFUSED);
    }

    private void told(Outcome what) {
      outcome = what;
      tablet.told.add(this);
      times++;
      thread = Thread.currentThread().getName();
      told.countDown();
    }

    Outcome await() throws InterruptedException {
      if (!told.await(30, TimeUnit.SECONDS)) {
        throw new AssertionError("an entry heard nothing for 30 s");
      }
      return outcome;
    }
  }
}
