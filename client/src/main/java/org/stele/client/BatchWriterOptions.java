package org.stele.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;

/**
 * How a {@link BatchWriter} behaves.
 *
 * @param bufferBytes the most bytes of mutations waiting and under way; a larger mutation is sent
 *     alone; 1 or more
 * @param maxLatency a mutation waits at most this long before it is sent, 1 ms to 1 day
 * @param deadline for each of add, flush and close; null: the client's
 * @param durability null: the table's
 */
public record BatchWriterOptions(
    long bufferBytes,
    Duration maxLatency,
    @Nullable Duration deadline,
    @Nullable Durability durability) {
  public BatchWriterOptions {
    if (bufferBytes < 1) {
      throw new IllegalArgumentException("a buffer of " + bufferBytes + " bytes");
    }
    ClientOptions.positive("latency", maxLatency);
    if (deadline != null) {
      ClientOptions.positive("deadline", deadline);
    }
  }

  /** 16 MiB, 1 s, the client's deadline, the table's durability. */
  public static BatchWriterOptions defaults() {
    return new BatchWriterOptions(16 << 20, Duration.ofSeconds(1), null, null);
  }

  public BatchWriterOptions withBufferBytes(long bytes) {
    return new BatchWriterOptions(bytes, maxLatency, deadline, durability);
  }

  public BatchWriterOptions withMaxLatency(Duration latency) {
    return new BatchWriterOptions(bufferBytes, latency, deadline, durability);
  }

  public BatchWriterOptions withDeadline(Duration newDeadline) {
    return new BatchWriterOptions(bufferBytes, maxLatency, newDeadline, durability);
  }

  public BatchWriterOptions withDurability(Durability newDurability) {
    return new BatchWriterOptions(bufferBytes, maxLatency, deadline, newDurability);
  }
}
