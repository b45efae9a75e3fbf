package org.stele.core.cursor;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Walks cells in key order. A new cursor stands nowhere: seek first. Keys are encoded ({@link
 * org.stele.core.data.KeyCodec}); key and value are views into the cursor's own memory, valid until
 * its next move.
 *
 * <p>One thread at a time. After an exception a cursor is only good for closing.
 */
public interface CellCursor extends AutoCloseable {
  /** Moves to the first cell at or after {@code key}. May read files. */
  void seek(byte[] key) throws IOException;

  /**
   * Moves to the last cell before {@code key}. Only seeks are legal afterwards, not {@link
   * #next()}.
   */
  void seekBefore(byte[] key) throws IOException;

  /**
   * Tells that cells at or after {@code key} are not wanted by later moves: the cursor may end
   * there, which spares it the block behind. Null wants all cells again. Only a hint.
   */
  default void stopBefore(byte @Nullable [] key) {}

  /** Whether the cursor stands on a cell. */
  boolean isValid();

  /** Moves to the next cell; legal only on a cell. May read files. */
  void next() throws IOException;

  byte[] keyArray();

  int keyOffset();

  int keyLength();

  byte[] valueArray();

  int valueOffset();

  int valueLength();

  /** Gives back what the cursor holds; idempotent, never fails. */
  @Override
  void close();
}
