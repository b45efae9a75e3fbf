package org.stele.client.location;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Extent;

class TabletMapTest {
  private static Location location(int number, String previous, String end) {
    return new Location(
        "t" + number,
        new Extent(
            "1", previous == null ? null : Bytes.of(previous), end == null ? null : Bytes.of(end)),
        "h:" + (number % 60_000 + 1));
  }

  @Test
  void findsByRowUpToAndWithTheEndRow() {
    TabletMap map = new TabletMap();
    Location first = location(1, null, "f");
    Location last = location(2, "m", null);
    map.add(first);
    map.add(last);
    assertEquals(first, map.find(Bytes.of("a")));
    assertEquals(first, map.find(Bytes.of("f")));
    assertNull(map.find(Bytes.of("g")), "a gap is not filled by a neighbour");
    assertNull(map.find(Bytes.of("m")));
    assertEquals(last, map.find(Bytes.of("n")));
    map.remove(location(3, null, "f"));
    assertEquals(first, map.find(Bytes.of("a")), "another location was forgotten");
    map.remove(first);
    assertNull(map.find(Bytes.of("a")));
  }

  /** Whatever is added in whatever order, known locations never overlap. */
  @Test
  void neverHoldsOverlaps() {
    String rows = "bdfhjlnprtvxz";
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      TabletMap map = new TabletMap();
      List<Location> all = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int from = random.nextInt(rows.length() + 1);
        int to = from + random.nextInt(rows.length() + 1 - from);
        Location added =
            location(
                i,
                from == 0 ? null : rows.substring(from - 1, from),
                to == rows.length() ? null : rows.substring(to, to + 1));
        map.add(added);
        all.add(added);
        if (random.nextInt(5) == 0) {
          map.remove(all.get(random.nextInt(all.size())));
        }
        List<Location> found = new ArrayList<>();
        for (char c = 'a'; c <= 'z'; c++) {
          Location one = map.find(Bytes.of(String.valueOf(c)));
          if (one != null && !found.contains(one)) {
            found.add(one);
          }
        }
        for (int a = 0; a < found.size(); a++) {
          for (int b = a + 1; b < found.size(); b++) {
            assertTrue(!found.get(a).extent().overlaps(found.get(b).extent()), "seed " + seed);
          }
        }
        assertTrue(map.size() <= found.size() + 1, "seed " + seed);
      }
    }
  }
}
