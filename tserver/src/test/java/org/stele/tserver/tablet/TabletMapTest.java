package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;

/** Tablets that come and go in any order, compared with a search through all of them. */
class TabletMapTest {
  private static final int TABLETS = 60;
  private static final String TABLE = TabletFixture.TABLE;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private TabletFixture engine;
  private TabletMap map;

  @BeforeEach
  void start() throws Exception {
    engine = new TabletFixture(new TabletFixture.Options());
    map = engine.map;
    map.remove(engine.tablet);
  }

  @AfterEach
  void end() throws Exception {
    map.all().forEach(tablet -> tablet.fail("the test ends"));
    for (Tablet tablet : map.all()) {
      map.remove(tablet);
      tablet.close();
    }
    map.add(engine.tablet);
    engine.close();
  }

  private static TabletExtent extent(int number) {
    return new TabletExtent(TABLE, end(number - 1), end(number));
  }

  private static @Nullable Bytes end(int number) {
    return number < 0 || number == TABLETS - 1 ? null : row(number);
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%03d", number));
  }

  @Test
  void findsWhatIsThereWhateverCameAndWent() throws Exception {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < TABLETS; i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    List<Tablet> all = new ArrayList<>(Collections.nCopies(TABLETS, engine.tablet));
    Set<Integer> there = new HashSet<>();
    for (int number : order) {
      all.set(number, engine.addTablet("many" + number, extent(number)));
      there.add(number);
      check(all, there);
    }
    Collections.shuffle(order, random);
    for (int number : order) {
      map.remove(all.get(number));
      map.remove(all.get(number)); // nothing happens
      all.get(number).fail("the test ends");
      all.get(number).close();
      there.remove(number);
      check(all, there);
    }
  }

  /** Tablet N ends with row N. */
  private void check(List<Tablet> all, Set<Integer> there) {
    assertEquals(there.size(), map.size());
    assertEquals(there.size(), map.all().size());
    for (int number = 0; number < TABLETS; number++) {
      Tablet expected = there.contains(number) ? all.get(number) : null;
      byte[] row = row(number).toArray();
      assertSame(expected, map.find(TABLE, row, 0, row.length), () -> "seed " + seed);
      assertSame(expected, map.findByKey(TABLE, extent(number).lowerKey()));
      assertSame(expected, map.get("many" + number));
    }
  }

  @Test
  void aTabletWithRowsOfAnotherIsNotAdded() throws Exception {
    engine.addTablet("many1", new TabletExtent(TABLE, row(10), row(20)));
    for (TabletExtent extent :
        List.of(
            new TabletExtent(TABLE, row(19), row(30)),
            new TabletExtent(TABLE, row(5), row(11)),
            new TabletExtent(TABLE, row(12), row(13)),
            new TabletExtent(TABLE, null, null))) {
      assertThrows(IllegalStateException.class, () -> engine.addTablet("many2", extent));
    }
    assertThrows(
        IllegalStateException.class,
        () -> engine.addTablet("many1", new TabletExtent(TABLE, row(20), row(30))));
    assertNull(map.get("many2"));
    assertNull(map.find(TABLE, row(25).toArray(), 0, 6));
    assertEquals(1, map.size());
  }
}
