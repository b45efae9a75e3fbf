package org.stele.client;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.stele.client.retry.RetryOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;

/** A client of three fake servers, whose retries are quick. Closed, it has no thread left. */
final class ClientFixture implements AutoCloseable {
  final FakeCluster cluster;
  final SteleClient client;

  ClientFixture() throws Exception {
    cluster = new FakeCluster(3);
    client = connect(Duration.ofSeconds(20), Duration.ofSeconds(5));
  }

  /** Another client, which the caller closes. */
  SteleClient connect(Duration deadline, Duration attempt) {
    return SteleClient.connect(
        cluster.connectString(),
        ClientOptions.defaults()
            .withDeadline(deadline)
            .withAttemptTimeout(attempt)
            .withRetry(
                RetryOptions.defaults()
                    .withWaits(Duration.ofMillis(1), Duration.ofMillis(50))
                    .withBudget(10, 1000, 1_000_000)));
  }

  static List<Bytes> splits(String... rows) {
    return Arrays.stream(rows).map(Bytes::of).toList();
  }

  static List<Cell> all(Iterable<Cell> cells) {
    List<Cell> all = new ArrayList<>();
    cells.forEach(all::add);
    return all;
  }

  @Override
  public void close() throws IOException {
    client.close();
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("stele-client-")));
    cluster.close();
  }
}
