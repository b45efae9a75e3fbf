package org.stele.tserver.conditional;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.time.Clock;
import org.stele.tserver.conditional.RowReservations.Reservation;

class RowReservationsTest {
  private final Clock clock = Clock.system();
  private final RowReservations reservations = new RowReservations(clock);

  private Reservation reserve(boolean exclusive, long millis, String... rows)
      throws InterruptedException {
    TreeMap<Bytes, Boolean> map = new TreeMap<>();
    for (String row : rows) {
      map.put(Bytes.of(row), exclusive);
    }
    return reservations.reserve(map, clock.nanos() + TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Test
  void rowsThatAreLookedAtAreShared() throws Exception {
    Reservation one = reserve(false, 0, "a", "b");
    Reservation two = reserve(false, 0, "b", "c");
    assertNotNull(one);
    assertNotNull(two);
    assertNull(reserve(true, 10, "b"));
    one.close();
    assertNull(reserve(true, 10, "b"));
    two.close();
    assertNotNull(reserve(true, 0, "b"));
  }

  @Test
  void aFailedReservationKeepsNothing() throws Exception {
    Reservation held = reserve(true, 0, "b");
    assertNull(reserve(true, 10, "a", "b"));
    assertNotNull(reserve(true, 0, "a"));
    held.close();
    held.close();
    assertNotNull(reserve(true, 0, "b"));
  }

  @Test
  void waitsForTheOneThatHasTheRow() throws Exception {
    Reservation held = reserve(true, 0, "a");
    CountDownLatch started = new CountDownLatch(1);
    CompletableFuture<Reservation> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              started.countDown();
              try {
                return reserve(true, 30_000, "a");
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    started.await();
    held.close();
    assertNotNull(waiting.get(30, TimeUnit.SECONDS));
  }

  @Test
  void manyThreadsNeverMeetAndNeverWaitInACircle() throws Exception {
    AtomicInteger[] inside =
        IntStream.range(0, 5).mapToObj(i -> new AtomicInteger()).toArray(AtomicInteger[]::new);
    AtomicInteger meetings = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(8, Thread::new);
    for (int thread = 0; thread < 8; thread++) {
      Random random = new Random(thread);
      threads.execute(
          () -> {
            for (int i = 0; i < 500; i++) {
              List<Integer> rows =
                  IntStream.range(0, 5).filter(row -> random.nextBoolean()).boxed().toList();
              String[] names = rows.stream().map(row -> "row" + row).toArray(String[]::new);
              try (Reservation held = reserve(true, 60_000, names)) {
                assertNotNull(held);
                rows.forEach(
                    row -> {
                      if (inside[row].getAndIncrement() != 0) {
                        meetings.incrementAndGet();
                      }
                    });
                rows.forEach(row -> inside[row].decrementAndGet());
              } catch (InterruptedException e) {
                meetings.addAndGet(1000);
              }
            }
          });
    }
    threads.shutdown();
    threads.awaitTermination(60, TimeUnit.SECONDS);
    assertEquals(0, meetings.get());
  }
}
