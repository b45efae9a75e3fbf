package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.LocalFileStore;
import org.stele.core.sortedfile.BlockCache;
import org.stele.core.sortedfile.BlockInfo;
import org.stele.core.sortedfile.SortedFileCheck;
import org.stele.core.sortedfile.SortedFileReader;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * Damage in a sorted file, in whatever part of it, or a file that is gone: reads that touch it fail
 * with file and offset and never with a wrong or missing cell, other reads go on, nothing leaks,
 * and when the file is whole again so is the table.
 */
class DamagedFileIT {
  private static final String TABLE = "files";
  private static final int ROWS = 300;
  private static final int VALUE_BYTES = 100;
  private static final int THREADS = TestForm.count(16, 64);
  private static final int FAILED_READS = TestForm.count(2_000, 10_000);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path directory;

  /** The sorted file of each tablet, as it was before the damage, and its blocks. */
  private record Whole(Path file, byte[] bytes, List<BlockInfo> blocks) {
    List<BlockInfo> blocks(BlockInfo.Kind kind) {
      return blocks.stream().filter(block -> block.kind() == kind).toList();
    }
  }

  /** What is done to the file of one tablet, which is named after it. */
  private enum Harm {
    DATA,
    INDEX,
    FILTER,
    SWAPPED,
    PROPERTIES,
    FOOTER,
    MAGIC,
    TRUNCATED,
    MISSING,
    NONE;

    /** Whether it can be read as long as nobody comes to the damaged part. */
    boolean opens() {
      return this == DATA || this == FILTER || this == SWAPPED || this == NONE;
    }
  }

  private final Map<Harm, Whole> files = new HashMap<>();

  @Test
  void damageIsNamedConfinedAndOverWhenRepaired() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), Map.of())) {
      try (SteleClient client = server.client()) {
        client
            .tables()
            .create(
                TABLE,
                TableOptions.defaults()
                    .withSplits(splits())
                    .with("table.file.block.bytes", "1K")
                    .with("table.file.compression", "none"));
        write(client);
        client.tables().flush(TABLE);
      }
      server.stop().orFail();
      findFiles(server.directory().resolve("store"));
      damageAll();
      server.startDirectly();
      try (SteleClient client =
          SteleClient.connect(server.zookeeper(), ClientOptions.defaults().withDeadline(LIMIT))) {
        for (Harm harm : Harm.values()) {
          checkReads(client, harm);
        }
        checkManyFailures(server, client);
        checkTableOperations(client);
        repairAll();
        for (Harm harm : Harm.values()) {
          if (harm.opens()) {
            assertAllThere(client, harm);
          }
        }
      }
      if (!TestForm.LONG) {
        server.stele("restart").orFail();
      }
      try (SteleClient client = server.client()) {
        for (Harm harm : Harm.values()) {
          Conditions.await(harm + " is served again", LIMIT, () -> isServed(client, harm));
          assertAllThere(client, harm);
        }
      }
    }
  }

  /** Tablets end between the names. */
  private static List<Bytes> splits() {
    return Stream.of(Harm.values())
        .map(harm -> Bytes.of(harm + "~"))
        .sorted()
        .limit(Harm.values().length - 1L)
        .toList();
  }

  private static String row(Harm harm, int number) {
    return String.format("%s %04d", harm, number);
  }

  private static String value(Harm harm, int number) {
    byte[] value = new byte[VALUE_BYTES / 2];
    new Random(31L * harm.name().hashCode() + number).nextBytes(value);
    return Bytes.wrap(value).toHex();
  }

  private static void write(SteleClient client) {
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (Harm harm : Harm.values()) {
        for (int i = 0; i < ROWS; i++) {
          writer.add(Mutation.of(row(harm, i)).put("f", "q", value(harm, i)));
        }
      }
    }
  }

  // ---- Damage

  private void findFiles(Path store) throws IOException {
    try (Stream<Path> paths = Files.walk(store.resolve("tables"));
        LocalFileStore opened = LocalFileStore.open(store)) {
      for (Path file : paths.filter(path -> path.toString().endsWith(".sf")).toList()) {
        List<BlockInfo> blocks = new ArrayList<>();
        String name = store.relativize(file).toString();
        String row;
        try (SortedFileReader reader = SortedFileReader.open(opened, name, 0, BlockCache.NONE)) {
          SortedFileCheck.visitBlocks(reader, blocks::add);
          Bytes first = reader.properties().firstKey();
          row = KeyCodec.decode(first.unsafeArray()).row().toUtf8();
        }
        for (Harm harm : Harm.values()) {
          if (row.startsWith(harm + " ")) {
            files.put(harm, new Whole(file, Files.readAllBytes(file), blocks));
          }
        }
      }
    }
    assertEquals(Harm.values().length, files.size(), "files of tablets");
  }

  private void damageAll() throws IOException {
    for (Harm harm : Harm.values()) {
      Whole whole = files.get(harm);
      byte[] bytes = whole.bytes.clone();
      switch (harm) {
        case DATA -> flip(bytes, middleOf(whole, BlockInfo.Kind.DATA));
        case INDEX -> flip(bytes, middleOf(whole, BlockInfo.Kind.INDEX));
        case FILTER -> flip(bytes, middleOf(whole, BlockInfo.Kind.FILTER));
        case PROPERTIES -> flip(bytes, middleOf(whole, BlockInfo.Kind.PROPERTIES));
        case FOOTER -> flip(bytes, bytes.length - 40);
        case MAGIC -> flip(bytes, bytes.length - 3);
        case SWAPPED -> swapTwoDataBlocks(whole, bytes);
        case TRUNCATED, MISSING, NONE -> {}
      }
      overwrite(whole.file, bytes);
      if (harm == Harm.TRUNCATED) {
        try (FileChannel channel = FileChannel.open(whole.file, StandardOpenOption.WRITE)) {
          channel.truncate(bytes.length / 2);
        }
      } else if (harm == Harm.MISSING) {
        Files.delete(whole.file);
      }
    }
  }

  private static long middleOf(Whole whole, BlockInfo.Kind kind) {
    List<BlockInfo> blocks = whole.blocks(kind);
    BlockInfo block = blocks.get(blocks.size() / 2);
    return block.offset() + block.storedBytes() / 2;
  }

  private static void flip(byte[] bytes, long at) {
    bytes[(int) at] ^= 0x20;
  }

  /** Both are whole blocks of this file, in the wrong place. */
  private static void swapTwoDataBlocks(Whole whole, byte[] bytes) {
    List<BlockInfo> blocks = whole.blocks(BlockInfo.Kind.DATA);
    for (int i = 0; i < blocks.size(); i++) {
      for (int j = i + 1; j < blocks.size(); j++) {
        BlockInfo one = blocks.get(i);
        BlockInfo other = blocks.get(j);
        if (one.storedBytes() == other.storedBytes()) {
          System.arraycopy(
              whole.bytes, (int) one.offset(), bytes, (int) other.offset(), one.storedBytes());
          System.arraycopy(
              whole.bytes, (int) other.offset(), bytes, (int) one.offset(), one.storedBytes());
          return;
        }
      }
    }
    throw new AssertionError("no two blocks have one length");
  }

  /** In place, as files are open. */
  private static void overwrite(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      channel.write(ByteBuffer.wrap(bytes), 0);
    }
  }

  private void repairAll() throws IOException {
    for (Whole whole : files.values()) {
      overwrite(whole.file, whole.bytes);
    }
  }

  // ---- Reads

  /** Each read gives what was written, or fails by name. */
  private void checkReads(SteleClient client, Harm harm) {
    int failures = 0;
    for (int i = 0; i < ROWS; i++) {
      int number = i;
      String found;
      try {
        Row row = client.lookup(TABLE, row(harm, i));
        found = row.get("f", "q");
      } catch (SteleException e) {
        assertNamed(harm, e);
        failures++;
        continue;
      }
      assertEquals(value(harm, number), found, () -> row(harm, number));
    }
    boolean fails = harm != Harm.NONE;
    assertEquals(fails, failures > 0, harm + ": " + failures + " lookups failed");
    if (harm == Harm.DATA || harm == Harm.SWAPPED) {
      assertTrue(failures < ROWS / 2, harm + ": " + failures + " lookups of " + ROWS + " failed");
    }
    if (harm == Harm.NONE || harm == Harm.FILTER) {
      assertEquals(ROWS, scan(client, harm));
    } else {
      assertNamed(harm, assertThrows(SteleException.class, () -> scan(client, harm)));
    }
    assertEquals(value(Harm.NONE, 7), client.lookup(TABLE, row(Harm.NONE, 7)).get("f", "q"));
  }

  private void assertNamed(Harm harm, SteleException e) {
    assertEquals(ErrorCode.CORRUPT, e.code(), () -> harm + ": " + e.getMessage());
    Whole whole = files.get(harm);
    String file = String.valueOf(e.file());
    assertTrue(whole.file.endsWith(file), () -> harm + ": " + file + " is named");
    assertTrue(
        e.offset() >= 0 && e.offset() <= whole.bytes.length,
        () -> harm + ": offset " + e.offset() + " of " + whole.bytes.length);
    if (harm == Harm.DATA) {
      long at = middleOf(whole, BlockInfo.Kind.DATA);
      assertTrue(Math.abs(e.offset() - at) < 2048, () -> "offset " + e.offset() + ", not " + at);
    }
  }

  /** The number of rows; each must be the next one. */
  private static int scan(SteleClient client, Harm harm) {
    int number = 0;
    try (Scanner scanner = client.scanner(TABLE).range(Range.prefix(harm + " ")).open()) {
      for (Cell cell : scanner) {
        assertEquals(row(harm, number), cell.row().toUtf8());
        assertEquals(value(harm, number), cell.value().toUtf8());
        number++;
      }
    }
    return number;
  }

  private static void assertAllThere(SteleClient client, Harm harm) {
    assertEquals(ROWS, scan(client, harm), harm.toString());
    for (int i = 0; i < ROWS; i++) {
      assertEquals(value(harm, i), client.lookup(TABLE, row(harm, i)).get("f", "q"));
    }
  }

  private static boolean isServed(SteleClient client, Harm harm) {
    try {
      return client.lookup(TABLE, row(harm, 0)).get("f", "q") != null;
    } catch (SteleException e) {
      assertEquals(ErrorCode.CORRUPT, e.code(), e::getMessage);
      return false;
    }
  }

  /** Who asks for work on the table hears of the damage; nothing waits for an operator. */
  private static void checkTableOperations(SteleClient client) {
    client.write(TABLE, Mutation.of(row(Harm.DATA, 0)).put("f", "q", value(Harm.DATA, 0)));
    for (Executable operation :
        List.<Executable>of(
            () -> client.tables().flush(TABLE), () -> client.tables().compact(TABLE))) {
      long begun = System.nanoTime();
      SteleException e = assertThrows(SteleException.class, operation);
      Duration took = Duration.ofNanos(System.nanoTime() - begun);
      assertEquals(ErrorCode.CORRUPT, e.code(), e::getMessage);
      assertTrue(took.compareTo(LIMIT.dividedBy(2)) < 0, () -> "told after " + took);
    }
  }

  /** Many readers of one damaged block: each gets the error, and nothing is left of it. */
  private void checkManyFailures(StandaloneServer server, SteleClient client) throws Exception {
    ProcessGauges before = ProcessGauges.of(server.pid());
    AtomicInteger left = new AtomicInteger(FAILED_READS);
    AtomicInteger failed = new AtomicInteger();
    List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                while (left.getAndDecrement() > 0) {
                  try {
                    scan(client, Harm.DATA);
                  } catch (SteleException e) {
                    assertNamed(Harm.DATA, e);
                    failed.incrementAndGet();
                  }
                }
              },
              "reader-" + i);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(LIMIT.toMillis());
      assertTrue(!thread.isAlive(), () -> thread.getName() + " hangs");
    }
    assertEquals(List.of(), faults);
    assertEquals(FAILED_READS, failed.get());
    ProcessGauges after = ProcessGauges.of(server.pid());
    assertTrue(
        after.descriptors() <= before.descriptors() + 5,
        () ->
            "descriptors: " + before.descriptors() + " before, " + after.descriptors() + " after");
  }
}
