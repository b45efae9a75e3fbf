package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.time.ManualClock;

/** The times that a tablet gives: they never run backwards, and no client moves them. */
class TabletTimeTest {
  private static final Bytes F = Bytes.of("f");
  private static final Bytes Q = Bytes.of("q");

  private final ManualClock clock = new ManualClock();
  private final TabletFixture.Options options = new TabletFixture.Options();

  private static long timeGiven(TabletFixture fixture, String row) throws Exception {
    fixture.writeNow(Mutation.of(row).put("f", "q", "of the server's time"));
    return fixture.lookup(Bytes.of(row)).get(0).timestamp();
  }

  private static Mutation timed(String row, long timestamp) {
    return Mutation.of(Bytes.of(row)).put(F, Q, Bytes.EMPTY, timestamp, Bytes.of("of its own"));
  }

  @Test
  void timesOfClientsDoNotMoveTheClockOfATabletThatIsReplayed() throws Exception {
    options.clock = clock;
    TabletFixture fixture = new TabletFixture(options);
    long tomorrow = clock.wallMillis() + Duration.ofHours(23).toMillis();
    fixture.writeNow(timed("soon", tomorrow), timed("never", Long.MAX_VALUE));
    fixture.writeNow(
        Mutation.of("both")
            .put(F, Q, Bytes.EMPTY, tomorrow, Bytes.of("own"))
            .put(F, Bytes.of("given"), Bytes.EMPTY));
    fixture = fixture.crash();
    try {
      clock.advance(Duration.ofSeconds(1));
      assertEquals(clock.wallMillis(), timeGiven(fixture, "a"));
      fixture.flush();
      fixture.reopen();
      assertEquals(clock.wallMillis(), timeGiven(fixture, "b"));
    } finally {
      fixture.close();
    }
  }

  @Test
  void timesThatTheServerGaveDoNotRunBackwardsAfterACrash() throws Exception {
    options.clock = clock;
    TabletFixture fixture = new TabletFixture(options);
    long right = clock.wallMillis();
    clock.stepWall(right + Duration.ofDays(400).toMillis()); // a clock that was very wrong
    long given = timeGiven(fixture, "a");
    assertEquals(clock.wallMillis(), given);
    fixture.writeNow(timed("old", 17));
    clock.stepWall(right);
    fixture = fixture.crash();
    try {
      assertEquals(given, timeGiven(fixture, "b"));
      fixture.flush();
      fixture.reopen();
      assertEquals(given, timeGiven(fixture, "c"));
    } finally {
      fixture.close();
    }
  }
}
