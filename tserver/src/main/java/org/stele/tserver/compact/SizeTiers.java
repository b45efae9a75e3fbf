package org.stele.tserver.compact;

import org.jspecify.annotations.Nullable;

/**
 * Chooses which files of a tablet are merged. The files come in order of their sequences, and only
 * a run of neighbours may be merged. A run is good if no file in it is much larger than the others
 * together: then each cell is rewritten once per doubling of the data or less. Of good runs the
 * longest is taken, of equally long ones the smallest. If no run is good but there are more files
 * than the bound, the smallest run that brings them back to it is taken.
 */
final class SizeTiers {
  /** A shorter good run is not worth the work. */
  private static final int LEAST_RUN = 4;

  /** More files at once need too many open blocks and keep others waiting. */
  private static final int LONGEST_RUN = 20;

  /** A file may have this many times the size of the rest of its run. */
  private static final double RATIO = 1.2;

  private SizeTiers() {}

  /** Neighbouring files: from {@code from} up to {@code to}, without it. */
  record Run(int from, int to) {
    int length() {
      return to - from;
    }
  }

  /**
   * The run to merge next; null if none is worth it.
   *
   * @param sizes in order of sequence
   * @param maxFiles bound on the files of a tablet
   */
  static @Nullable Run choose(long[] sizes, int maxFiles) {
    Run best = null;
    long bestBytes = 0;
    for (int from = 0; from < sizes.length; from++) {
      long bytes = 0;
      long largest = 0;
      for (int to = from + 1; to <= sizes.length && to - from <= LONGEST_RUN; to++) {
        bytes += sizes[to - 1];
        largest = Math.max(largest, sizes[to - 1]);
        int length = to - from;
        boolean good = length >= LEAST_RUN && largest <= RATIO * (bytes - largest);
        if (good
            && (best == null
                || length > best.length()
                || (length == best.length() && bytes < bestBytes))) {
          best = new Run(from, to);
          bestBytes = bytes;
        }
      }
    }
    return best != null || sizes.length <= maxFiles ? best : forced(sizes, maxFiles);
  }

  private static Run forced(long[] sizes, int maxFiles) {
    int length = Math.min(LONGEST_RUN, sizes.length - maxFiles + 1);
    Run best = new Run(0, length);
    long bestBytes = Long.MAX_VALUE;
    for (int from = 0; from + length <= sizes.length; from++) {
      long bytes = 0;
      for (int i = from; i < from + length; i++) {
        bytes += sizes[i];
      }
      if (bytes < bestBytes) {
        best = new Run(from, from + length);
        bestBytes = bytes;
      }
    }
    return best;
  }
}
