package org.stele.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.location.TabletMap;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.WriteAnswer;
import org.stele.client.rpc.WriteQuery;
import org.stele.core.data.Bytes;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Sends mutations of a table to their servers until each is done or failed. Run once, by one
 * thread.
 *
 * <p>It goes in passes. A pass locates the tablet of every mutation, makes of those of one server a
 * queue of requests, and sends: to different servers at the same time, to one server one after the
 * other. A request that fails, or has mutations that fail for now, ends its server's queue for this
 * pass: what is behind it waits with it for the next, so that mutations of one row stay in order.
 * Each mutation that ever was in a request whose outcome is not known is unknown until it is done.
 */
final class WriteRound {
  private static final long REQUEST_BYTES = 4 << 20;

  /** Every call has an outcome by its deadline; this much later there is a fault in this client. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ClientCore core;
  private final String table;
  private final @Nullable Durability durability;
  private final Attempts attempts;
  private final TableFreshness freshness;
  private List<Entry> open = new ArrayList<>();
  private final List<FailedMutation> failures = new ArrayList<>();
  private List<Mutation> unsent = List.of();

  WriteRound(
      ClientCore core,
      String table,
      @Nullable Durability durability,
      List<Mutation> mutations,
      long deadlineNanos) {
    this.core = core;
    this.table = table;
    this.durability = durability;
    this.freshness = new TableFreshness(core.locations(), table);
    this.attempts =
        core.retry()
            .begin(
                () -> "write of " + mutations.size() + " mutations to table " + table,
                false, // whether an outcome is unknown is kept for each mutation
                deadlineNanos);
    for (int i = 0; i < mutations.size(); i++) {
      open.add(new Entry(i, mutations.get(i)));
    }
  }

  /** What failed or is unknown; valid after {@link #run}. */
  List<FailedMutation> failures() {
    return failures;
  }

  /** What was never sent because the thread was interrupted; valid after {@link #run}. */
  List<Mutation> unsent() {
    return unsent;
  }

  /**
   * @throws OperationInterruptedException if the thread was interrupted
   */
  void run() {
    try {
      while (!open.isEmpty()) {
        if (core.isClosed()) {
          throw core.closedException();
        }
        Pass pass = new Pass(open);
        open = List.of();
        pass.send();
        open = pass.again;
        open.sort(Comparator.comparingInt(entry -> entry.index));
        AttemptException failure = pass.failure;
        if (failure != null && !open.isEmpty()) {
          core.pause(attempts.failed(failure));
        }
      }
    } catch (InterruptedException e) {
      interrupted();
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(true, "writing to table " + table, e);
    } catch (SteleException e) {
      failOpen(e);
    } catch (RuntimeException | Error e) {
      failOpen(
          new SteleException(ErrorCode.INTERNAL, "writing to table " + table + " failed: " + e, e));
    }
  }

  private void interrupted() {
    List<Mutation> kept = new ArrayList<>();
    for (Entry entry : open) {
      if (entry.outcomeUnknown) {
        failures.add(new FailedMutation(entry.mutation, unknown("interrupted", null)));
      } else {
        kept.add(entry.mutation);
      }
    }
    unsent = kept;
  }

  private void failOpen(SteleException error) {
    for (Entry entry : open) {
      fail(entry, error);
    }
    open = List.of();
  }

  private void fail(Entry entry, SteleException error) {
    entry.settled = true;
    failures.add(
        new FailedMutation(
            entry.mutation,
            entry.outcomeUnknown && error.code() != ErrorCode.UNKNOWN_OUTCOME
                ? unknown(String.valueOf(error.getMessage()), error)
                : error));
  }

  private static SteleException unknown(String message, @Nullable Throwable cause) {
    return new SteleException(
        ErrorCode.UNKNOWN_OUTCOME,
        "an earlier attempt may have been applied, and then: " + message,
        cause);
  }

  /** A mutation that is not done. */
  private static final class Entry {
    private final int index;
    private final Mutation mutation;
    private boolean outcomeUnknown;

    /** In a request whose outcome is not known yet. */
    private boolean underWay;

    /** Done, or failed for good. */
    private boolean settled;

    /** In the pass under way; null: it was not located. */
    private @Nullable Location location;

    private Entry(int index, Mutation mutation) {
      this.index = index;
      this.mutation = mutation;
    }
  }

  /** The requests for one server, in order. */
  private static final class Lane {
    private final String server;
    private final List<List<Entry>> requests = new ArrayList<>();
    private long lastBytes;
    private int sent;

    private Lane(String server) {
      this.server = server;
    }

    private void add(Entry entry) {
      if (requests.isEmpty() || lastBytes + entry.mutation.bytes() > REQUEST_BYTES) {
        requests.add(new ArrayList<>());
        lastBytes = 0;
      }
      requests.get(requests.size() - 1).add(entry);
      lastBytes += entry.mutation.bytes();
    }
  }

  /** What became of a request; one of answer and failure is there. */
  private record Outcome(
      Lane lane, @Nullable WriteAnswer answer, @Nullable AttemptException failure) {}

  /** One try of all that is open. */
  private final class Pass {
    private final List<Entry> entries;
    private final Map<String, Lane> lanes = new LinkedHashMap<>();
    private final BlockingQueue<Outcome> outcomes = new LinkedBlockingQueue<>();
    private final List<Entry> again = new ArrayList<>();
    private int underWay;
    private @Nullable String tableId;

    /** The table was not there under the known id: all go on with the id that the name has now. */
    private boolean tableRefreshed;

    /** The last failure after which something is to be sent again. */
    private @Nullable AttemptException failure;

    private Pass(List<Entry> entries) {
      this.entries = entries;
      entries.forEach(entry -> entry.location = null);
    }

    private void send() throws InterruptedException {
      boolean complete = false;
      try {
        locate();
        if (lanes.size() == 1) {
          sendAlone(lanes.values().iterator().next());
        } else {
          sendBeside();
        }
        complete = true;
      } finally {
        if (!complete) {
          keepUnanswered();
        }
      }
    }

    /**
     * Finds the server of each mutation; those of one row get the same. After the first that cannot
     * be found now only known places are used, so that one tablet without a server does not cost a
     * look into the metadata for each of its mutations.
     */
    private void locate() throws InterruptedException {
      TabletMap used = new TabletMap();
      Set<Bytes> waitingRows = new HashSet<>();
      Location last = null;
      AttemptException stuck = null;
      for (Entry entry : entries) {
        Bytes row = entry.mutation.row();
        if (last == null || !last.extent().contains(row)) {
          last = used.find(row);
        }
        if (last == null && stuck == null) {
          try {
            last = locate(row);
            used.add(last);
          } catch (AttemptException e) {
            stuck = e;
          }
        } else if (last == null && tableId != null) {
          last = core.locations().cached(tableId, row);
          if (last != null) {
            used.add(last);
          }
        }
        if (last == null || waitingRows.contains(row)) {
          waitingRows.add(row);
          again.add(entry);
        } else {
          entry.location = last;
          lanes.computeIfAbsent(last.address(), Lane::new).add(entry);
        }
      }
      if (stuck != null) {
        takeStuck(stuck);
      }
    }

    private Location locate(Bytes row) throws InterruptedException {
      CallLimits limits = core.limits(attempts);
      String id = freshness.tableId(limits);
      tableId = id;
      return core.locations().locate(id, row, limits);
    }

    /** Not all could be located. */
    private void takeStuck(AttemptException stuck) {
      if (freshness.handled(null, stuck)) {
        tableRefreshed = true;
        attempts.again(stuck);
      } else if (stuck.isRetryable()) {
        failure = stuck;
      } else {
        SteleException error = finalError(stuck);
        again.forEach(entry -> fail(entry, error));
        again.clear();
      }
    }

    /** On this thread, which waits for each answer itself. */
    private void sendAlone(Lane lane) throws InterruptedException {
      while (lane.sent < lane.requests.size()) {
        List<Entry> request = lane.requests.get(lane.sent);
        Outcome outcome;
        try {
          outcome =
              new Outcome(
                  lane,
                  core.tabletCalls().write(lane.server, query(request), core.limits(attempts)),
                  null);
        } catch (AttemptException e) {
          outcome = new Outcome(lane, null, e);
        }
        take(outcome);
      }
    }

    private void sendBeside() throws InterruptedException {
      for (Lane lane : lanes.values()) {
        sendNext(lane);
      }
      while (underWay > 0) {
        Outcome outcome =
            outcomes.poll(Math.max(1, attempts.leftNanos()) + GRACE_NANOS, TimeUnit.NANOSECONDS);
        if (outcome == null) {
          throw new IllegalStateException("a write got no outcome in time");
        }
        underWay--;
        take(outcome);
        sendNext(outcome.lane());
      }
    }

    private void sendNext(Lane lane) {
      if (lane.sent == lane.requests.size()) {
        return;
      }
      underWay++;
      core.tabletCalls()
          .writeAsync(
              lane.server,
              query(lane.requests.get(lane.sent)),
              core.limits(attempts),
              new Answer<>() {
                @Override
                public void answered(WriteAnswer value) {
                  outcomes.add(new Outcome(lane, value, null));
                }

                @Override
                public void failed(AttemptException e) {
                  outcomes.add(new Outcome(lane, null, e));
                }
              });
    }

    private WriteQuery query(List<Entry> request) {
      String id = tableId;
      if (id == null) {
        throw new IllegalStateException("nothing was located");
      }
      request.forEach(entry -> entry.underWay = true);
      return new WriteQuery(id, request.stream().map(entry -> entry.mutation).toList(), durability);
    }

    /** Takes the outcome of the request that its lane sent last. */
    private void take(Outcome outcome) {
      Lane lane = outcome.lane();
      List<Entry> request = lane.requests.get(lane.sent);
      int before = again.size();
      AttemptException requestFailure = outcome.failure();
      if (requestFailure != null) {
        for (Entry entry : request) {
          takeFailure(entry, requestFailure);
        }
      } else {
        takeAnswer(lane, request, outcome.answer());
      }
      request.forEach(entry -> entry.underWay = false);
      lane.sent++;
      if (again.size() > before) {
        while (lane.sent < lane.requests.size()) {
          again.addAll(lane.requests.get(lane.sent++));
        }
      }
    }

    private void takeAnswer(Lane lane, List<Entry> request, @Nullable WriteAnswer answer) {
      if (answer == null) {
        throw new IllegalStateException("an outcome without answer and failure");
      }
      for (WriteAnswer.Failure one : answer.failures()) {
        if (one.index() < 0 || one.index() >= request.size()) {
          AttemptException nonsense =
              AttemptException.lost(
                  lane.server,
                  "a failure of mutation " + one.index() + " of " + request.size(),
                  null);
          request.forEach(entry -> takeFailure(entry, nonsense));
          return;
        }
      }
      request.forEach(entry -> entry.settled = true);
      for (WriteAnswer.Failure one : answer.failures()) {
        Entry entry = request.get(one.index());
        entry.settled = false;
        takeFailure(entry, AttemptException.replied(lane.server, one.error()));
      }
    }

    private void takeFailure(Entry entry, AttemptException e) {
      AttemptException named = TableFreshness.at(entry.location, e);
      entry.outcomeUnknown |= e.isOutcomeUnknown();
      tableRefreshed |= freshness.handled(entry.location, e);
      if (e.code() == ErrorCode.UNKNOWN_TABLE && tableRefreshed) {
        again.add(entry);
      } else if (e.isRetryable()) {
        failure = named;
        again.add(entry);
      } else {
        fail(entry, finalError(named));
      }
    }

    private SteleException finalError(AttemptException e) {
      try {
        attempts.failed(e);
      } catch (SteleException error) {
        return error;
      }
      throw new IllegalStateException("failure " + e.getMessage() + " is not final", e);
    }

    /** The pass was broken off: sorts out what is open, for {@link WriteRound#open}. */
    private void keepUnanswered() {
      open = new ArrayList<>();
      for (Entry entry : entries) {
        if (!entry.settled) {
          entry.outcomeUnknown |= entry.underWay;
          open.add(entry);
        }
      }
    }
  }
}
