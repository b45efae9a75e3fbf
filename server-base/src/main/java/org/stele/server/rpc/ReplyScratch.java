package org.stele.server.rpc;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteWriter;
import org.stele.core.wire.StructReader;
import org.stele.core.wire.StructWriter;

/**
 * What one thread reuses to decode calls, encode replies and write them: any thread may answer a
 * call, so each has its own. Owned by its thread.
 */
final class ReplyScratch {
  /** Replies larger than this do not leave their buffer behind. */
  private static final int KEPT_BYTES = 1 << 20;

  private static final int FIRST_BYTES = 16 << 10;
  private static final int WRITE_BYTES = 128 << 10;

  private static final ThreadLocal<ReplyScratch> OF_THREAD =
      ThreadLocal.withInitial(ReplyScratch::new);

  final StructReader reader = new StructReader();
  final StructWriter writer = new StructWriter();

  /** The connection whose frames this selector thread is working on. */
  @Nullable Connection turnOf;

  /** Replies to {@link #turnOf}, written together when its turn ends. */
  private ByteWriter turnReplies = new ByteWriter(FIRST_BYTES);

  /** Gathers the replies that this thread gives, while open. */
  @Nullable ReplyBatch batch;

  private ByteWriter reply = new ByteWriter(FIRST_BYTES);
  private @Nullable ByteBuffer writeBuffer;

  private ReplyScratch() {}

  static ReplyScratch ofThread() {
    return OF_THREAD.get();
  }

  /** One that belongs to no thread yet. */
  static ReplyScratch fresh() {
    return new ReplyScratch();
  }

  /** Makes it the current thread's, until {@link #takeFromThread}. */
  void lendToThread() {
    OF_THREAD.set(this);
  }

  static void takeFromThread() {
    OF_THREAD.remove();
  }

  ByteWriter turnReplies() {
    return turnReplies;
  }

  void clearTurnReplies() {
    if (turnReplies.array().length > KEPT_BYTES) {
      turnReplies = new ByteWriter(FIRST_BYTES);
    }
    turnReplies.clear();
  }

  /** An empty buffer for one reply, until the next call. */
  ByteWriter emptyReply() {
    if (reply.array().length > KEPT_BYTES) {
      reply = new ByteWriter(FIRST_BYTES);
    }
    reply.clear();
    return reply;
  }

  /**
   * An empty direct buffer. Handing arrays to the socket would make the JDK keep a direct buffer of
   * the largest reply's size for each thread.
   */
  ByteBuffer writeBuffer() {
    if (writeBuffer == null) {
      writeBuffer = ByteBuffer.allocateDirect(WRITE_BYTES);
    }
    return writeBuffer.clear();
  }
}
