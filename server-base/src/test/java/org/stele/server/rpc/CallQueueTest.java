package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The queue against a model of it, in random histories, and its rules one by one. */
class CallQueueTest {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final int HISTORIES = LONG ? 20_000 : 400;
  private static final int STEPS = 400;
  private static final long MS = 1_000_000;

  private static CallQueue<WaitingCall> queue(int maxCalls, int workers) {
    return new CallQueue<>(maxCalls, 1 << 20, workers, principal -> 1);
  }

  private static WaitingCall call(String principal, int number, long deadlineMillis) {
    return new WaitingCall(principal, number, deadlineMillis * MS, 0, 300);
  }

  private static List<WaitingCall> add(CallQueue<WaitingCall> queue, WaitingCall call) {
    List<WaitingCall> refused = new ArrayList<>();
    queue.add(call, 0, MS, refused);
    return refused;
  }

  /** Takes a call and lets it cost so much. */
  private static WaitingCall run(CallQueue<WaitingCall> queue, long costMillis) {
    CallQueue.Taken<WaitingCall> taken = queue.poll();
    assertNotNull(taken);
    queue.ran(taken, costMillis * MS, 0);
    return taken.call();
  }

  @Test
  void earliestDeadlineIsNextWithinAPrincipalAndOlderAttemptsWinTies() {
    CallQueue<WaitingCall> queue = queue(10, 1);
    add(queue, call("a", 1, 3000));
    add(queue, call("a", 2, 1000));
    add(queue, new WaitingCall("a", 3, 2000 * MS, 5, 300));
    add(queue, new WaitingCall("a", 4, 2000 * MS, 4, 300));
    assertEquals(
        List.of(2, 4, 3, 1),
        List.of(
            run(queue, 1).number(),
            run(queue, 1).number(),
            run(queue, 1).number(),
            run(queue, 1).number()));
    assertNull(queue.poll());
  }

  @Test
  void whoHasCostLeastIsNext() {
    CallQueue<WaitingCall> queue = queue(100, 1);
    for (int i = 0; i < 40; i++) {
      add(queue, call("dear", i, 100_000));
      add(queue, call("cheap", i, 1000_000)); // a later deadline is no disadvantage
    }
    Map<String, Long> cost = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      CallQueue.Taken<WaitingCall> taken = queue.poll();
      long millis = taken.call().principal().equals("dear") ? 9 : 1;
      queue.ran(taken, millis * MS, 0);
      cost.merge(taken.call().principal(), millis, Long::sum);
    }
    assertTrue(Math.abs(cost.get("dear") - cost.get("cheap")) <= 9, cost::toString);
  }

  @Test
  void weightsDivideTheCost() {
    CallQueue<WaitingCall> queue =
        new CallQueue<>(1000, 1 << 20, 1, principal -> principal.equals("a") ? 3 : 1);
    Map<String, Integer> runs = new HashMap<>();
    for (int i = 0; i < 200; i++) {
      add(queue, call("a", i, 1_000_000));
      add(queue, call("b", i, 1_000_000));
    }
    for (int i = 0; i < 200; i++) {
      runs.merge(run(queue, 5).principal(), 1, Integer::sum);
    }
    assertEquals(150, runs.get("a"), 2, runs::toString);
  }

  @Test
  void bytesAreChargedToo() {
    CallQueue<WaitingCall> queue = queue(100, 1);
    for (int i = 0; i < 30; i++) {
      add(queue, call("large", i, 100_000));
      add(queue, call("small", i, 100_000));
    }
    Map<String, Integer> runs = new HashMap<>();
    for (int i = 0; i < 30; i++) {
      CallQueue.Taken<WaitingCall> taken = queue.poll();
      queue.ran(taken, MS, taken.call().principal().equals("large") ? 10_000_000 : 0);
      runs.merge(taken.call().principal(), 1, Integer::sum);
    }
    assertTrue(runs.get("small") > 4 * runs.get("large"), runs::toString);
  }

  @Test
  void whoComesLateNeitherHasSavedUpNorPays() {
    CallQueue<WaitingCall> queue = queue(1000, 1);
    for (int i = 0; i < 100; i++) {
      add(queue, call("old", i, 1_000_000));
    }
    for (int i = 0; i < 50; i++) {
      run(queue, 5);
    }
    for (int i = 0; i < 50; i++) {
      add(queue, call("new", i, 1_000_000));
    }
    assertEquals("new", run(queue, 5).principal(), "it has had least");
    Map<String, Integer> runs = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      runs.merge(run(queue, 5).principal(), 1, Integer::sum);
    }
    assertEquals(20, runs.get("old"), 1, "but it does not catch up with the time before");
  }

  @Test
  void whatWasUsedWhileNobodyWaitedIsForgotten() {
    CallQueue<WaitingCall> queue = queue(1000, 1);
    for (int i = 0; i < 20; i++) {
      add(queue, call("a", i, 1_000_000));
      run(queue, 1000);
    }
    queue.idle();
    for (int i = 0; i < 20; i++) {
      add(queue, call("a", i, 1_000_000));
      add(queue, call("b", i, 1_000_000));
    }
    Map<String, Integer> runs = new HashMap<>();
    for (int i = 0; i < 20; i++) {
      runs.merge(run(queue, 5).principal(), 1, Integer::sum);
    }
    assertEquals(10, runs.get("a"), 1);
  }

  @Test
  void aFullQueueTakesFromWhoHasMost() {
    CallQueue<WaitingCall> queue = queue(4, 100);
    for (int i = 0; i < 4; i++) {
      assertEquals(List.of(), add(queue, call("heavy", i, 1000 + i)));
    }
    WaitingCall light = call("light", 0, 9000);
    assertEquals(List.of(call("heavy", 3, 1003)), add(queue, light), "the latest of the heavy one");
    assertEquals(
        List.of(call("heavy", 4, 5000)), add(queue, call("heavy", 4, 5000)), "be it the new one");
    assertEquals(
        List.of(call("heavy", 2, 1002)), add(queue, call("heavy", 5, 500)), "not if it is earlier");
    assertEquals(light, run(queue, 1).principal().equals("light") ? light : run(queue, 1));
  }

  @Test
  void whoWasRefusedComesBeforeThoseThatWereServedMeanwhile() {
    CallQueue<WaitingCall> queue = queue(2, 100);
    Map<String, Integer> runs = new HashMap<>();
    // Three callers that come again at once for two places: whoever is refused has its turn next.
    Set<String> outside = new LinkedHashSet<>(List.of("a", "b", "c"));
    for (int i = 0; i < 300; i++) {
      for (String name : List.copyOf(outside)) {
        outside.remove(name);
        for (WaitingCall refused : add(queue, call(name, i, 1_000_000 + i))) {
          outside.add(refused.principal());
        }
      }
      WaitingCall served = run(queue, 5);
      runs.merge(served.principal(), 1, Integer::sum);
      outside.add(served.principal());
    }
    runs.values().forEach(count -> assertEquals(100, count, 2, runs::toString));
  }

  @Test
  void aCallThatCannotBeReachedInTimeIsNotKept() {
    CallQueue<WaitingCall> queue = queue(1000, 2);
    List<WaitingCall> refused = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      queue.add(call("a", i, 100), 0, 10 * MS, refused); // 5 ms each with two workers
    }
    assertEquals(17, queue.size(), "four fifths of 100 ms");
    assertEquals(83, refused.size());
    refused.clear();
    queue.add(call("a", 1000, 50), 0, 10 * MS, refused);
    assertEquals(List.of(), refused, "it goes before the others");
    queue.add(call("b", 0, 20), 0, 10 * MS, refused);
    assertEquals(List.of(), refused, "they are not in its line");
  }

  @Test
  void principalsThatAreGoneAreForgotten() {
    CallQueue<WaitingCall> queue = queue(10, 1);
    List<WaitingCall> expired = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      add(queue, call("caller " + i, i, 1_000_000));
      run(queue, 5);
      queue.idle();
    }
    queue.pollExpired(0, expired);
    assertEquals(0, queue.principals());
    for (int i = 0; i < 100; i++) {
      add(queue, call("caller " + i, i, 1_000_000));
    }
    queue.pollExpired(0, expired);
    assertEquals(100, queue.principals(), "those that were refused may come again");
    queue.pollExpired(4000 * MS, expired);
    assertEquals(10, queue.principals(), "within a time");
    assertEquals(List.of(), expired);
    assertEquals(10, queue.drain().size());
    assertEquals(0, queue.bytes());
  }

  /** Random histories: the model is the set of calls that wait, and looks at all of them. */
  @Test
  void agreesWithItsModel() {
    long first = Long.getLong("stele.seed", new Random().nextLong());
    int histories = Long.getLong("stele.seed") == null ? HISTORIES : 1;
    for (int i = 0; i < histories; i++) {
      long seed = first + i;
      try {
        new History(seed).run();
      } catch (AssertionError e) {
        throw new AssertionError("-Dstele.seed=" + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static final class History {
    private static final Comparator<WaitingCall> URGENCY =
        Comparator.comparingLong(WaitingCall::deadlineNanos)
            .thenComparingLong(WaitingCall::firstAttemptNanos)
            .thenComparingInt(WaitingCall::number);

    private final Random random;
    private final int maxCalls;
    private final long maxBytes;
    private final int principals;
    private final Map<String, Integer> weights = new HashMap<>();
    private final CallQueue<WaitingCall> queue;
    private final Set<WaitingCall> waiting = new LinkedHashSet<>();
    private final List<CallQueue.Taken<WaitingCall>> running = new ArrayList<>();
    private long now;
    private int calls;

    History(long seed) {
      random = new Random(seed);
      maxCalls = 1 + random.nextInt(20);
      maxBytes = 500L + random.nextInt(5000);
      principals = 1 + random.nextInt(6);
      for (int i = 0; i < principals; i++) {
        weights.put("p" + i, 1 + random.nextInt(3));
      }
      queue =
          new CallQueue<>(
              maxCalls, maxBytes, 1 + random.nextInt(4), principal -> weights.get(principal));
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(8)) {
          case 0, 1, 2, 3 -> add();
          case 4, 5 -> poll();
          case 6 -> finish();
          default -> pass();
        }
        assertEquals(waiting.size(), queue.size());
        assertEquals(bytesOf(waiting), queue.bytes());
        assertTrue(queue.size() <= maxCalls);
        assertTrue(queue.bytes() <= maxBytes || queue.size() == 1);
      }
      assertEquals(waiting, Set.copyOf(queue.drain()));
      assertEquals(0, queue.size());
    }

    private void add() {
      WaitingCall call =
          new WaitingCall(
              "p" + random.nextInt(principals),
              ++calls,
              now + random.nextInt(100) * MS,
              now - random.nextInt(3) * MS,
              256 + random.nextInt(600));
      List<WaitingCall> refused = new ArrayList<>();
      queue.add(call, now, MS, refused);
      waiting.add(call);
      if (refused.equals(List.of(call)) && isLast(call)) {
        waiting.remove(call); // no room, or no chance in time
        assertTrue(fits());
        return;
      }
      for (WaitingCall one : refused) {
        assertFalse(fits(), "refused without need");
        assertEquals(one, lineOf(one.principal()).get(lineOf(one.principal()).size() - 1));
        double load = load(one.principal());
        for (WaitingCall other : waiting) {
          assertTrue(load >= load(other.principal()) - 1e-9, () -> one + " had less than " + other);
        }
        assertTrue(waiting.remove(one));
      }
      assertTrue(fits());
    }

    private boolean fits() {
      return waiting.size() <= maxCalls && (bytesOf(waiting) <= maxBytes || waiting.size() == 1);
    }

    private boolean isLast(WaitingCall call) {
      List<WaitingCall> line = lineOf(call.principal());
      return line.size() > 1 && line.get(line.size() - 1).equals(call);
    }

    private List<WaitingCall> lineOf(String principal) {
      return waiting.stream()
          .filter(call -> call.principal().equals(principal))
          .sorted(URGENCY)
          .toList();
    }

    private double load(String principal) {
      List<WaitingCall> line = lineOf(principal);
      double share = Math.max((double) line.size() / maxCalls, (double) bytesOf(line) / maxBytes);
      return share / weights.get(principal);
    }

    private static long bytesOf(Iterable<WaitingCall> some) {
      long bytes = 0;
      for (WaitingCall call : some) {
        bytes += call.heldBytes();
      }
      return bytes;
    }

    private void poll() {
      CallQueue.Taken<WaitingCall> taken = queue.poll();
      if (taken == null) {
        assertEquals(Set.of(), waiting);
        queue.idle();
        return;
      }
      assertEquals(lineOf(taken.call().principal()).get(0), taken.call());
      assertTrue(waiting.remove(taken.call()));
      running.add(taken);
    }

    private void finish() {
      if (!running.isEmpty()) {
        queue.ran(running.remove(random.nextInt(running.size())), random.nextInt(20) * MS, 1000);
      }
    }

    private void pass() {
      now += random.nextInt(30) * MS;
      List<WaitingCall> expired = new ArrayList<>();
      queue.pollExpired(now, expired);
      Supplier<List<WaitingCall>> late =
          () -> waiting.stream().filter(call -> call.deadlineNanos() <= now).toList();
      assertEquals(Set.copyOf(late.get()), Set.copyOf(expired));
      assertEquals(expired.size(), Set.copyOf(expired).size());
      waiting.removeAll(Set.copyOf(expired));
    }
  }
}
