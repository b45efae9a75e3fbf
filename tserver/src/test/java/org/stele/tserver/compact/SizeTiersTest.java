package org.stele.tserver.compact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;

class SizeTiersTest {
  @Test
  void mergesFilesOfLikeSize() {
    assertEquals(new SizeTiers.Run(1, 5), SizeTiers.choose(new long[] {1000, 10, 10, 10, 10}, 10));
    assertNull(SizeTiers.choose(new long[] {1000, 100, 10, 1}, 10));
    assertNull(SizeTiers.choose(new long[0], 10));
  }

  @Test
  void boundIsKeptWhateverTheSizes() {
    long[] sizes = {1 << 20, 1 << 16, 1 << 12, 1 << 8, 1 << 4};
    assertEquals(new SizeTiers.Run(3, 5), SizeTiers.choose(sizes, 4));
    assertEquals(new SizeTiers.Run(2, 5), SizeTiers.choose(sizes, 3));
  }

  /** Flushes of all sizes: files stay few, and each byte is rewritten a few times only. */
  @Test
  void filesStayFewAndRewritesToo() {
    Seeds.run(
        20,
        random -> {
          List<Long> files = new ArrayList<>();
          long written = 0;
          long rewritten = 0;
          for (int flush = 0; flush < 500; flush++) {
            long size = 1000L + random.nextInt(9000);
            files.add(size);
            written += size;
            while (true) {
              SizeTiers.Run run =
                  SizeTiers.choose(files.stream().mapToLong(each -> each).toArray(), 10);
              if (run == null) {
                break;
              }
              List<Long> merged = files.subList(run.from(), run.to());
              long sum = merged.stream().mapToLong(each -> each).sum();
              merged.clear();
              files.add(run.from(), sum);
              rewritten += sum;
            }
            assertTrue(files.size() <= 10, files::toString);
          }
          assertTrue(rewritten < 8 * written, rewritten + " of " + written + " bytes rewritten");
        });
  }
}
