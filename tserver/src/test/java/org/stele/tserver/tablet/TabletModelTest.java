package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.Seeds;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.concurrent.WouldBlockException;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.time.ManualClock;

/**
 * One tablet against the oracle: whatever was written, flushed, compacted, opened anew or recovered
 * after a crash, lookups and scans give what the rules of the data model say.
 */
class TabletModelTest {
  private static final List<Bytes> ROWS =
      List.of(
          bytes(0),
          bytes(0, 0),
          bytes(0, 1),
          bytes(1, 0xff),
          Bytes.of("a"),
          Bytes.of("a\0"),
          Bytes.of("ab"),
          bytes(0x7f),
          bytes(0x80),
          bytes(0xff),
          bytes(0xff, 0xff));
  private static final List<Bytes> PARTS =
      List.of(Bytes.EMPTY, bytes(0), Bytes.of("f"), bytes(0xff));

  private static Bytes bytes(int... values) {
    byte[] array = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      array[i] = (byte) values[i];
    }
    return Bytes.wrap(array);
  }

  private static <T> T any(Random random, List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void readsWhatWasWrittenInEveryState(int versions) {
    Seeds.run(8, random -> run(random, versions));
  }

  private void run(Random random, int versions) throws Exception {
    ManualClock clock = new ManualClock();
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    options.setting("table.versions", Integer.toString(versions));
    options.setting("table.file.block.bytes", "512B");
    options.setting("table.files.max", "4");
    options.logFileBytes = 4096;
    TabletFixture fixture = new TabletFixture(options);
    CellModel model = new CellModel();
    try {
      for (int step = 0; step < 150; step++) {
        switch (random.nextInt(16)) {
          case 0, 1 -> fixture.flush();
          case 2 -> fixture.compact(false);
          case 3 -> fixture.compact(random.nextInt(3) == 0);
          case 4 -> clock.advance(Duration.ofMillis(random.nextInt(3)));
          case 5 -> {
            if (random.nextInt(3) == 0) {
              fixture.reopen();
            }
          }
          case 6 -> {
            if (random.nextInt(3) == 0) {
              fixture = fixture.crash();
            }
          }
          default -> write(fixture, model, random);
        }
        if (step % 5 == 0) {
          check(fixture, model, random, versions);
        }
      }
      check(fixture, model, random, versions);
    } finally {
      fixture.close();
    }
  }

  private static void write(TabletFixture fixture, CellModel model, Random random)
      throws Exception {
    Mutation mutation = Mutation.of(any(random, ROWS));
    int updates = 1 + random.nextInt(4);
    for (int i = 0; i < updates; i++) {
      Bytes family = any(random, PARTS);
      Bytes qualifier = any(random, PARTS);
      Bytes visibility = random.nextInt(4) == 0 ? Bytes.of("v") : Bytes.EMPTY;
      Long time = random.nextBoolean() ? null : (Long) (long) random.nextInt(4);
      switch (random.nextInt(10)) {
        case 0 -> mutation.deleteColumn(family, qualifier, visibility, time);
        case 1 -> mutation.deleteFamily(family, time);
        case 2 -> mutation.deleteRow(time);
        default ->
            mutation.put(family, qualifier, visibility, time, Bytes.of("v" + random.nextInt()));
      }
    }
    model.add(mutation, fixture.tablet.publishedSequence() + 1, fixture.clock.wallMillis());
    fixture.writeNow(mutation);
  }

  private static void check(TabletFixture fixture, CellModel model, Random random, int versions) {
    long now = fixture.tablet.publishedSequence();
    List<Cell> expected = model.read(now, versions);
    assertEquals(expected, fixture.scanAll());
    assertEquals(
        expected,
        fixture.scan(
            Range.all(), List.of(), random.nextInt(3), random.nextInt(5), 1 + random.nextInt(200)));
    for (Bytes row : ROWS) {
      List<Cell> ofRow = model.readRow(row, now, versions);
      assertEquals(ofRow, fixture.lookup(row));
      assertEquals(ofRow, inline(fixture, row));
    }
    Bytes row = any(random, ROWS);
    List<Column> columns = columns(random);
    assertEquals(
        model.read(now, versions, Range.row(row), columns),
        fixture.lookup(row, columns.toArray(Column[]::new)));
    Range range = range(random);
    assertEquals(
        model.read(now, versions, range, columns),
        fixture.scan(range, columns, random.nextInt(3), random.nextInt(4), random.nextInt(100)));
  }

  /** Each batch ends as soon as it looks at the clock, among many hidden cells of few rows. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void scansWhoseTimeIsAlwaysOverGiveTheSame(int versions) {
    Seeds.run(
        4,
        random -> {
          TabletFixture.Options options = new TabletFixture.Options();
          options.clock = new ManualClock();
          options.setting("table.versions", Integer.toString(versions));
          TabletFixture fixture = new TabletFixture(options);
          CellModel model = new CellModel();
          try {
            for (int part = 0; part < 3; part++) {
              for (int i = 0; i < 1200; i++) {
                write(fixture, model, random);
              }
              fixture.batchNanos = 0;
              for (int i = 0; i < 10; i++) {
                check(fixture, model, random, versions);
              }
              fixture.flush();
            }
          } finally {
            fixture.close();
          }
        });
  }

  private static List<Column> columns(Random random) {
    List<Column> columns = new ArrayList<>();
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      columns.add(new Column(any(random, PARTS), random.nextBoolean() ? null : any(random, PARTS)));
    }
    return columns;
  }

  private static Range range(Random random) {
    while (true) {
      try {
        return new Range(bound(random), bound(random));
      } catch (IllegalArgumentException e) {
        assertTrue(e.getMessage().contains("starts after its stop"), e.getMessage());
      }
    }
  }

  private static Bound bound(Random random) {
    int parts = random.nextInt(5);
    if (parts == 0) {
      return null;
    }
    List<Bytes> names = new ArrayList<>(List.of(any(random, ROWS)));
    while (names.size() < parts) {
      names.add(any(random, PARTS));
    }
    return new Bound(names, null, random.nextBoolean());
  }

  /** As a selector thread does it: without a read of files, else anew where they may be read. */
  private static List<Cell> inline(TabletFixture fixture, Bytes row) {
    NonBlocking.enter();
    try {
      return fixture.lookup(row);
    } catch (WouldBlockException e) {
      NonBlocking.exit();
      return fixture.lookup(row);
    } finally {
      NonBlocking.exit();
    }
  }

  @Test
  void deleteAndPutInOneMillisecondLeaveThePut() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = new ManualClock();
    TabletFixture fixture = new TabletFixture(options);
    try {
      Bytes f = Bytes.of("f");
      Bytes q = Bytes.of("q");
      Bytes row = Bytes.of("r");
      fixture.writeNow(Mutation.of(row).put(f, q, Bytes.of("old")));
      fixture.writeNow(Mutation.of(row).deleteColumn(f, q));
      fixture.writeNow(Mutation.of(row).put(f, q, Bytes.of("new")));
      assertValue(fixture, row, "new");
      fixture.writeNow(
          Mutation.of(row).deleteRow().put(f, q, Bytes.of("a")).put(f, q, Bytes.of("b")));
      assertValue(fixture, row, "b");
      fixture.flush();
      assertValue(fixture, row, "b");
      fixture = fixture.crash();
      fixture.writeNow(Mutation.of(row).deleteFamily(f, null));
      assertEquals(List.of(), fixture.lookup(row));
      fixture.flush();
      fixture.compact(true);
      assertEquals(List.of(), fixture.lookup(row));
      assertTrue(fixture.tablet.files().isEmpty(), "nothing is left, so no file is");
    } finally {
      fixture.close();
    }
  }

  private static void assertValue(TabletFixture fixture, Bytes row, String value) {
    List<Cell> cells = fixture.lookup(row);
    assertEquals(1, cells.size(), cells::toString);
    assertEquals(value, cells.get(0).value().toUtf8());
    assertEquals(cells, fixture.scanAll());
  }

  @Test
  void timesNeverRunBackwards() throws Exception {
    ManualClock clock = new ManualClock();
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    options.setting("table.versions", "100");
    TabletFixture fixture = new TabletFixture(options);
    try {
      Mutation mutation = Mutation.of("r").put("f", "q", "1");
      fixture.writeNow(mutation);
      long first = fixture.scanAll().get(0).timestamp();
      clock.stepWall(first - 100_000);
      fixture.writeNow(Mutation.of("s").put("f", "q", "1"));
      fixture = fixture.crash();
      clock.stepWall(first - 200_000);
      fixture.writeNow(Mutation.of("t").put("f", "q", "1"));
      fixture.reopen();
      clock.stepWall(first - 300_000);
      fixture.writeNow(Mutation.of("u").put("f", "q", "1"));
      long before = first;
      for (Cell cell : fixture.scanAll()) {
        assertTrue(cell.timestamp() >= before, cell + " is older than one before it");
        before = cell.timestamp();
      }
    } finally {
      fixture.close();
    }
  }
}
