package org.stele.tserver.lookup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.tserver.tablet.TabletFixture;

/**
 * What a lookup that finds everything in memory allocates: little, however many files there are.
 */
class LookupAllocationTest {
  private static final int LOOKUPS = 20_000;
  private static final int FILES = 8;

  /** A key by which the cache is asked, for filter and data; often it is not even made. */
  private static final int KEY_OF_A_BLOCK_BYTES = 32;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private TabletFixture fixture;

  @BeforeEach
  void begin() throws Exception {
    fixture = new TabletFixture(new TabletFixture.Options());
  }

  @AfterEach
  void end() throws Exception {
    fixture.close();
  }

  private static LookupQuery query(String row, Column... columns) {
    byte[] array = Bytes.of(row).unsafeArray();
    return new LookupQuery(TabletFixture.TABLE, array, 0, array.length, List.of(columns), 0);
  }

  private long bytesPerLookup(LookupQuery query, int cells) {
    long before = 0;
    for (int i = 0; i < 2 * LOOKUPS; i++) {
      if (i == LOOKUPS) {
        before = THREADS.getCurrentThreadAllocatedBytes();
      }
      assertCells(cells, fixture.lookups.lookup(query));
    }
    return (THREADS.getCurrentThreadAllocatedBytes() - before) / LOOKUPS;
  }

  private static void assertCells(int cells, LookupAnswer answer) {
    if (answer.cells().cells() != cells) {
      assertEquals(cells, answer.cells().cells());
    }
  }

  private void write(int from, int to) throws Exception {
    for (int row = from; row < to; row += 100) {
      Mutation[] mutations = new Mutation[100];
      for (int i = 0; i < 100; i++) {
        mutations[i] =
            Mutation.of("row%06d".formatted(row + i)).put("f", "q", "a value of some bytes");
      }
      fixture.writeNow(mutations);
    }
  }

  @Test
  void doesNotGrowWithTheFiles() throws Exception {
    for (int file = 0; file < FILES; file++) {
      write(0, 1000);
      fixture.flush();
    }
    assertLittle(bytesPerLookup(query("row000500"), 1));
    assertLittle(bytesPerLookup(query("row000500", Column.of("f", "q")), 1));
    assertLittle(bytesPerLookup(query("row000500x"), 0));
    write(0, 1000);
    assertLittle(bytesPerLookup(query("row000500"), 1));
  }

  private static void assertLittle(long bytes) {
    assertTrue(bytes < FILES * KEY_OF_A_BLOCK_BYTES * 3, bytes + " bytes for a lookup");
  }

  /** What a large row needed is not kept. */
  @Test
  void nothingLargeIsKeptForTheNextLookup() throws Exception {
    fixture.writeNow(
        Mutation.of("large").put(Bytes.of("f"), Bytes.of("q"), Bytes.wrap(new byte[900 << 10])),
        Mutation.of("small").put("f", "q", "value"));
    assertTrue(fixture.lookups.lookup(query("large")).cells().array().length > 900 << 10);
    assertTrue(fixture.lookups.lookup(query("small")).cells().array().length <= 256 << 10);
  }
}
