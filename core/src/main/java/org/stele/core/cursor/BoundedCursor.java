package org.stele.core.cursor;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The cells of a source from one key up to another, without it. Seeks before the lower bound go to
 * it, so that {@code seek(new byte[0])} is the start.
 *
 * <p>Clips a file to the rows that a file reference names, and stands above a {@link VersionCursor}
 * (not below: that one must see the deletes at the start of a row) to give a range.
 */
public final class BoundedCursor extends ForwardingCursor {
  private final byte[] lower;
  private final byte @Nullable [] upper;
  private boolean valid;

  /**
   * @param lower encoded; empty is open
   * @param upper encoded; null is open
   */
  public BoundedCursor(CellCursor source, byte[] lower, byte @Nullable [] upper) {
    super(source);
    this.lower = lower;
    this.upper = upper;
    source.stopBefore(upper);
  }

  @Override
  public void seek(byte[] key) throws IOException {
    valid = false;
    source.seek(Arrays.compareUnsigned(key, lower) < 0 ? lower : key);
    checkUpper();
  }

  @Override
  public void seekBefore(byte[] key) throws IOException {
    valid = false;
    source.seekBefore(upper != null && Arrays.compareUnsigned(upper, key) < 0 ? upper : key);
    valid =
        source.isValid()
            && Arrays.compareUnsigned(
                    source.keyArray(),
                    source.keyOffset(),
                    source.keyOffset() + source.keyLength(),
                    lower,
                    0,
                    lower.length)
                >= 0;
  }

  @Override
  public void next() throws IOException {
    if (!valid) {
      throw new IllegalStateException("the cursor stands on no cell");
    }
    valid = false;
    source.next();
    checkUpper();
  }

  private void checkUpper() {
    valid =
        source.isValid()
            && (upper == null
                || Arrays.compareUnsigned(
                        source.keyArray(),
                        source.keyOffset(),
                        source.keyOffset() + source.keyLength(),
                        upper,
                        0,
                        upper.length)
                    < 0);
  }

  @Override
  public void stopBefore(byte @Nullable [] key) {
    boolean sooner = key != null && (upper == null || Arrays.compareUnsigned(key, upper) < 0);
    source.stopBefore(sooner ? key : upper);
  }

  @Override
  public boolean isValid() {
    return valid;
  }
}
