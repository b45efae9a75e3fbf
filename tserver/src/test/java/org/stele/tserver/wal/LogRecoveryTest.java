package org.stele.tserver.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.expected;
import static org.stele.tserver.wal.LogTesting.path;
import static org.stele.tserver.wal.LogTesting.recover;
import static org.stele.tserver.wal.LogTesting.run;
import static org.stele.tserver.wal.LogTesting.stepped;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Durability;
import org.stele.core.data.Sequence;
import org.stele.core.data.WriterStamp;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.CrashableFileStore;
import org.stele.tserver.wal.TestTablet.TestEntry;

/** What recovery makes of torn, damaged, missing and empty logs. */
class LogRecoveryTest {
  private static final long LARGE = 1 << 20;

  private final CrashableFileStore store = LogTesting.newStore();
  private final TestTablet a = new TestTablet("a", 1);
  private final TestTablet b = new TestTablet("b", 1);

  private static TestEntry write(GroupCommitLog log, TestTablet tablet, String value) {
    TestEntry entry = tablet.entry(Durability.SYNC, value);
    assertTrue(log.append(entry));
    run(log);
    assertEquals(TestTablet.Outcome.COMMITTED, entry.outcome);
    return entry;
  }

  private static void roll(GroupCommitLog log) {
    CompletableFuture<Void> roll = log.requestRoll();
    run(log);
    roll.join();
  }

  @Test
  void recordsComeBackWithAllTheirParts() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    TestEntry entry = a.entry(Durability.SYNC, "one", "two", "");
    entry.writer = new WriterStamp(7, 8, 9);
    log.append(entry);
    run(log);
    try (LogCursor cursor =
        LogDirectory.read(LogTesting.killed(store), DIRECTORY)
            .records("a", epoch -> epoch == 1, 0)) {
      LogRecord found = cursor.next();
      assertEquals(new WriterStamp(7, 8, 9), found.writer());
      assertEquals(1, found.epoch());
      assertEquals(Sequence.of(1, 1), found.firstSequence());
      assertEquals(Sequence.of(1, 3), found.lastSequence());
      assertEquals(null, cursor.next());
      assertEquals(null, cursor.next());
    }
    LogDirectory directory = LogDirectory.read(LogTesting.killed(store), DIRECTORY);
    assertEquals(
        expected(List.of(entry)).subList(2, 3), recover(directory, "a", Sequence.of(1, 2)));
    assertEquals(List.of(), recover(directory, "a", Sequence.of(1, 3)));
    assertEquals(null, directory.records("a", epoch -> epoch == 2, 0).next());
  }

  /** Every cut in the last three records; then five more in a new session's log. */
  @Test
  void recoversEveryRecordBeforeATornTail() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    List<Long> ends = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      write(log, a, "value " + i);
      ends.add(log.files().get(0).bytes());
    }
    byte[] whole = store.contents(path(1));
    for (long cut = ends.get(16); cut <= ends.get(19); cut++) {
      long at = cut;
      int left = (int) ends.stream().filter(end -> end <= at).count();
      CrashableFileStore torn = LogTesting.newStore();
      torn.setContents(path(1), Arrays.copyOf(whole, (int) cut));
      List<String> before = expected(a.applied.subList(0, left));
      assertEquals(before, recover(torn, "a"), "cut at " + cut);

      String next = "wal/s2/data";
      TestTablet reopened = new TestTablet("a", 2);
      try (GroupCommitLog second =
          GroupCommitLog.withoutThreads(
              torn,
              LogTesting.options(next, LARGE, LARGE),
              org.stele.core.time.Clock.system(),
              LogTesting.salts(),
              broken -> {})) {
        for (int i = 0; i < 5; i++) {
          write(second, reopened, "later " + i);
        }
        CrashableFileStore killed = LogTesting.killed(torn);
        assertEquals(before, recover(killed, "a"), "cut at " + cut);
        assertEquals(expected(reopened.applied), recover(LogDirectory.read(killed, next), "a", 0));
      }
    }
  }

  /** Whatever single byte goes bad: the records are all there, or an error says they are not. */
  @Test
  void noFlippedByteLosesAnAcknowledgedRecordSilently() throws IOException {
    for (boolean closed : new boolean[] {false, true}) {
      CrashableFileStore disk = LogTesting.newStore();
      TestTablet tablet = new TestTablet("a", 1);
      GroupCommitLog log = stepped(disk, 4096);
      for (int i = 0; i < 12; i++) {
        log.append(tablet.entry(Durability.SYNC, "value " + i, "more " + i));
        if (i % 3 == 2) {
          run(log);
        }
      }
      if (closed) {
        log.close();
      }
      List<String> all = expected(tablet.applied);
      assertEquals(24, all.size());
      // Nobody knows of the last group that it was synced, unless the log was closed.
      List<String> withoutLastGroup = all.subList(0, 18);
      byte[] whole = disk.contents(path(1));
      for (int i = 0; i < whole.length; i++) {
        for (int bit : new int[] {1, 0x80}) {
          byte[] flipped = whole.clone();
          flipped[i] ^= (byte) bit;
          disk.setContents(path(1), flipped);
          List<String> found;
          try {
            found = recover(disk, "a");
          } catch (CorruptFileException e) {
            assertEquals(path(1), e.file());
            continue;
          }
          if (found.size() != all.size()) {
            assertEquals(
                found, all.subList(0, found.size()), "not a prefix with byte " + i + " flipped");
            assertFalse(closed, "a record of a closed log vanished with byte " + i + " flipped");
            assertTrue(
                found.size() >= withoutLastGroup.size(),
                "only " + found.size() + " cells with byte " + i + " flipped");
          } else {
            assertEquals(all, found);
          }
        }
      }
    }
  }

  /** Three logs: a in all, b in the first, c in the last. */
  private List<TestEntry> threeLogs(TestTablet c) throws IOException {
    List<TestEntry> ofA = new ArrayList<>();
    GroupCommitLog log = stepped(store, LARGE);
    for (int file = 0; file < 3; file++) {
      for (int i = 0; i < 20; i++) {
        ofA.add(write(log, a, "value " + i));
        if (file == 0) {
          write(log, b, "other " + i);
        } else if (file == 2) {
          write(log, c, "third " + i);
        }
      }
      if (file < 2) {
        roll(log);
      }
    }
    return ofA;
  }

  @Test
  void damageInTheMiddleIsNotTheEnd() throws IOException {
    TestTablet c = new TestTablet("c", 1);
    threeLogs(c);
    CrashableFileStore killed = LogTesting.killed(store);
    byte[] bytes = killed.contents(path(1));
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("value 5");
    bytes[at] ^= 1;
    killed.setContents(path(1), bytes);
    CorruptFileException e = assertThrows(CorruptFileException.class, () -> recover(killed, "a"));
    assertEquals(path(1), e.file());
    assertTrue(e.offset() <= at && e.offset() > at - 100, e.getMessage());
    assertEquals(expected(b.applied), recover(killed, "b"));
    assertEquals(expected(c.applied), recover(killed, "c"));

    ByteArrayOutputStream text = new ByteArrayOutputStream();
    assertFalse(
        LogDump.check(killed, path(1), new PrintStream(text, true, StandardCharsets.UTF_8)));
    assertTrue(text.toString(StandardCharsets.UTF_8).contains("DAMAGED from offset " + e.offset()));

    killed.setContents(path(1) + ".accepted-loss", new byte[0]);
    List<String> rest = expected(a.applied);
    rest.remove(5);
    assertEquals(rest, recover(killed, "a"));
    assertEquals(1, LogDirectory.read(killed, DIRECTORY).damage().size());
  }

  /** Its index is coarse: but no extent of it may reach over what is damaged. */
  @Test
  void anAcceptedLossCountsInALogOfVeryManyExtents() throws IOException {
    GroupCommitLog log = stepped(store, 1 << 30);
    int each = ExtentIndex.MAX_EXTENTS;
    for (int from = 0; from < each; from += each / 8) {
      for (int i = from; i < from + each / 8; i++) {
        log.append(a.entry(Durability.SYNC, "value " + i));
        log.append(b.entry(Durability.SYNC, "value"));
      }
      run(log);
    }
    CrashableFileStore killed = LogTesting.killed(store);
    byte[] bytes = killed.contents(path(1));
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("value " + each / 2);
    bytes[at] ^= 1;
    killed.setContents(path(1), bytes);
    assertThrows(CorruptFileException.class, () -> recover(killed, "a"));
    assertEquals(expected(b.applied), recover(killed, "b"));

    killed.setContents(path(1) + ".accepted-loss", new byte[0]);
    List<String> rest = expected(a.applied);
    rest.remove(each / 2);
    assertEquals(rest, recover(killed, "a"));
    assertEquals(expected(b.applied), recover(killed, "b"));
  }

  @Test
  void aMissingLogConcernsTheTabletsThatWereInIt() throws IOException {
    TestTablet c = new TestTablet("c", 1);
    threeLogs(c);
    CrashableFileStore killed = LogTesting.killed(store);
    killed.delete(path(2));
    CorruptFileException e = assertThrows(CorruptFileException.class, () -> recover(killed, "a"));
    assertEquals(path(2), e.file());
    assertEquals(expected(b.applied), recover(killed, "b"));
    assertEquals(expected(c.applied), recover(killed, "c"));
    // What was flushed past it is not missed.
    assertEquals(
        expected(a.applied.subList(40, 60)),
        recover(LogDirectory.read(killed, DIRECTORY), "a", a.applied.get(39).lastSequence()));

    killed.setContents(path(2) + ".accepted-loss", new byte[0]);
    List<String> rest = expected(a.applied);
    rest.subList(20, 40).clear();
    assertEquals(rest, recover(killed, "a"));
  }

  @Test
  void aLogCutAtARecordBoundaryIsDamaged() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    List<Integer> ends = new ArrayList<>();
    write(log, b, "first");
    roll(log);
    for (int i = 0; i < 5; i++) {
      write(log, a, "value " + i);
      ends.add((int) log.files().get(1).bytes());
    }
    roll(log);
    write(log, a, "last");
    for (int end : ends) {
      CrashableFileStore killed = LogTesting.killed(store);
      killed.setContents(path(2), Arrays.copyOf(killed.contents(path(2)), end));
      if (end == ends.get(4)) {
        assertEquals(expected(a.applied), recover(killed, "a")); // only the index is gone
      } else {
        assertThrows(CorruptFileException.class, () -> recover(killed, "a"));
      }
      assertEquals(expected(b.applied), recover(killed, "b"));
    }
  }

  @Test
  void aDamagedHeaderIsNotAnEmptyLog() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    write(log, a, "one");
    roll(log);
    write(log, a, "two");
    roll(log);
    write(log, a, "three");
    for (int number = 1; number <= 3; number++) {
      CrashableFileStore killed = LogTesting.killed(store);
      byte[] bytes = killed.contents(path(number));
      bytes[25] ^= 1; // in the salt
      killed.setContents(path(number), bytes);
      CorruptFileException e = assertThrows(CorruptFileException.class, () -> recover(killed, "a"));
      assertEquals(path(number), e.file());
      assertEquals(0, e.offset());
    }
  }

  @Test
  void aLogWithoutAWholeHeaderIsEmpty() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    write(log, a, "one");
    roll(log);
    byte[] header = Arrays.copyOf(store.contents(path(2)), (int) log.files().get(1).bytes());
    for (int length = 0; length < header.length; length++) {
      for (int zeros : new int[] {0, 5000}) {
        CrashableFileStore killed = LogTesting.killed(store);
        killed.setContents(path(2), Arrays.copyOf(Arrays.copyOf(header, length), length + zeros));
        assertEquals(expected(a.applied), recover(killed, "a"));
        LogDirectory directory = LogDirectory.read(killed, DIRECTORY);
        assertTrue(directory.logs().get(1).empty() || length == header.length - 1, "" + length);
      }
    }
  }

  @Test
  void aDeletedLogIsNotMissedWhenItsTabletsWereFlushed() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    write(log, a, "one");
    write(log, b, "one");
    roll(log);
    write(log, a, "two");
    roll(log);
    write(log, b, "three");
    assertEquals(3, log.files().size());
    assertEquals(Set.of("a", "b"), log.files().get(0).tablets());

    log.flushed("a", a.applied.get(0).lastSequence());
    run(log);
    assertEquals(3, log.files().size());
    assertTrue(store.exists(path(1)));

    CrashableFileStore before = LogTesting.killed(store);
    log.flushed("b", b.applied.get(0).lastSequence());
    assertTrue(store.exists(path(1)), "deleted before that was declared");
    run(log);
    assertFalse(store.exists(path(1)));
    assertEquals(2, log.files().size());

    CrashableFileStore killed = LogTesting.killed(store);
    assertEquals(expected(a.applied.subList(1, 2)), recover(killed, "a"));
    assertEquals(expected(b.applied.subList(1, 2)), recover(killed, "b"));
    // The same without the declaration is a loss.
    before.delete(path(1));
    assertThrows(CorruptFileException.class, () -> recover(before, "b"));

    log.flushed("a", a.applied.get(1).lastSequence());
    log.flushed("b", b.applied.get(1).lastSequence());
    run(log);
    assertEquals(1, log.files().size());
    assertEquals(List.of(), recover(LogTesting.killed(store), "a"));
    log.close();
    assertEquals(List.of(), LogDirectory.read(store, DIRECTORY).damage());
  }

  @Test
  void anIndexBesideALogGivesTheSame() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    for (int i = 0; i < 30; i++) {
      write(log, i % 3 == 0 ? b : a, "value " + i);
    }
    CrashableFileStore killed = LogTesting.killed(store);
    LogDirectory first = LogDirectory.read(killed, DIRECTORY);
    first.writeIndexes();
    first.writeIndexes();
    assertTrue(killed.exists(path(1) + ".index"));
    assertEquals(expected(a.applied), recover(killed, "a"));
    assertEquals(expected(b.applied), recover(killed, "b"));
    byte[] index = killed.contents(path(1) + ".index");
    for (int i = 0; i < index.length; i++) {
      byte[] flipped = index.clone();
      flipped[i] ^= 4;
      killed.setContents(path(1) + ".index", flipped);
      assertEquals(expected(a.applied), recover(killed, "a"));
    }
  }

  @Test
  void staysOnTheSameServerAreKeptApart() throws IOException {
    TestTablet again = new TestTablet("a", 3);
    GroupCommitLog log = stepped(store, LARGE);
    write(log, a, "first stay");
    write(log, b, "between");
    log.flushed("a", a.published);
    write(log, again, "second stay");
    LogDirectory directory = LogDirectory.read(LogTesting.killed(store), DIRECTORY);
    List<String> all = new ArrayList<>(expected(a.applied));
    all.addAll(expected(again.applied));
    assertEquals(all, recover(directory, "a", 0));
    assertEquals(expected(again.applied), recover(directory, "a", a.published));
    try (LogCursor cursor = directory.records("a", epoch -> epoch == 3, 0)) {
      assertEquals(3, cursor.next().epoch());
      assertEquals(null, cursor.next());
    }
  }

  @Test
  void printsALog() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    write(log, a, "secret");
    log.close();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
    assertTrue(LogDump.check(store, path(1), out));
    assertTrue(LogDump.print(store, path(1), out));
    assertFalse(text.toString(StandardCharsets.UTF_8).contains("secret"));
    assertTrue(text.toString(StandardCharsets.UTF_8).contains("sequences 1.1 to 1.1"));
    assertTrue(LogDump.dump(store, path(1), out));
    assertTrue(text.toString(StandardCharsets.UTF_8).contains("PUT row f:q [] 1 = secret"));
  }
}
