package org.stele.core.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.core.concurrent.NonBlocking;

/**
 * A file store in memory that fails like a real one: it forgets at {@link #crash()} what was not
 * synced, and its n-th call of a kind can be made to fail or to hang.
 *
 * <p>After a crash the same object is the store of the restarted machine; handles from before fail.
 * A failed sync loses the bytes it should have brought to the disk, whatever later syncs say, as
 * the operating system does. Thread-safe.
 */
public final class CrashableFileStore implements FileStore {
  /** What is counted and can fail. */
  public enum Operation {
    CREATE,
    OPEN,
    READ,
    WRITE,
    FLUSH,
    SYNC,
    CLOSE,
    EXISTS,
    LIST,
    RENAME,
    DELETE,
    MAKE_DIRECTORY
  }

  private static final long HOLD_LIMIT_SECONDS = 60;

  @GuardedBy("this")
  private TreeMap<String, CrashableFile> nodes = new TreeMap<>();

  @GuardedBy("this")
  private final Map<Operation, Long> counts = new EnumMap<>(Operation.class);

  @GuardedBy("this")
  private final List<Fault> faults = new ArrayList<>();

  @GuardedBy("this")
  private final Map<Object, String> openHandles = new LinkedHashMap<>();

  @GuardedBy("this")
  private int generation;

  @GuardedBy("this")
  private long bytesRead;

  private volatile boolean canSync = true;
  private volatile Hook hook = (operation, path) -> {};

  /** Sees each call before it does anything; what it throws, the call throws. */
  public interface Hook {
    void before(Operation operation, String path) throws IOException;
  }

  // ---- Faults

  /** The {@code nth} call of a kind from now on (1: the next) fails with this exception, once. */
  public synchronized void failAt(Operation operation, int nth, IOException exception) {
    faults.add(new Fault(operation, "", nth, exception, null, true));
  }

  /** The same for calls on paths that contain {@code part}. */
  public synchronized void failAt(
      Operation operation, String part, int nth, IOException exception) {
    faults.add(new Fault(operation, part, nth, exception, null, true));
  }

  /** All calls of a kind fail until {@link #heal()}. */
  public synchronized void failAll(Operation operation, IOException exception) {
    faults.add(new Fault(operation, "", 1, exception, null, false));
  }

  /** The {@code nth} call of a kind from now on (1: the next) waits until it is released. */
  public synchronized Hold holdAt(Operation operation, int nth) {
    return holdAt(operation, "", nth);
  }

  /** The same for calls on paths that contain {@code part}. */
  public synchronized Hold holdAt(Operation operation, String part, int nth) {
    Hold hold = new Hold(operation);
    faults.add(new Fault(operation, part, nth, null, hold, true));
    return hold;
  }

  /** Has a test see, fail or hold any call. */
  public void onEachCall(Hook newHook) {
    hook = newHook;
  }

  /** Takes back all faults that were not met; calls that wait go on waiting. */
  public synchronized void heal() {
    faults.clear();
  }

  /** Whether {@link FileStore#canSync()} says so. */
  public void setCanSync(boolean can) {
    canSync = can;
  }

  /** A call that waits. */
  public static final class Hold {
    private final Operation operation;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile @Nullable IOException failure;

    private Hold(Operation operation) {
      this.operation = operation;
    }

    /** Waits until the call is there. */
    public void awaitReached() {
      await(reached, "no thread came to the held " + operation);
    }

    public boolean isReached() {
      return reached.getCount() == 0;
    }

    /** Lets the call go on. */
    public void release() {
      released.countDown();
    }

    /** Lets the call fail. */
    public void fail(IOException exception) {
      failure = exception;
      released.countDown();
    }

    private void pass() throws IOException {
      reached.countDown();
      await(released, "the held " + operation + " was not released");
      if (failure != null) {
        throw copy(failure);
      }
    }

    private static void await(CountDownLatch latch, String message) {
      boolean interrupted = false;
      try {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(HOLD_LIMIT_SECONDS);
        while (true) {
          try {
            if (!latch.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
              throw new AssertionError(message + " within " + HOLD_LIMIT_SECONDS + " s");
            }
            return;
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private static final class Fault {
    final Operation operation;
    final String part;
    final @Nullable IOException exception;
    final @Nullable Hold hold;
    final boolean once;
    int callsLeft;

    Fault(
        Operation operation,
        String part,
        int nth,
        @Nullable IOException exception,
        @Nullable Hold hold,
        boolean once) {
      if (nth < 1) {
        throw new IllegalArgumentException("calls are counted from 1");
      }
      this.operation = operation;
      this.part = part;
      this.callsLeft = nth;
      this.exception = exception;
      this.hold = hold;
      this.once = once;
    }
  }

  /** The same kind and text with this thread's stack. */
  private static IOException copy(IOException exception) {
    return new IOException(exception.getMessage(), exception);
  }

  /** Counts a call; waits or fails if it is its turn. */
  private void enter(Operation operation, String path) throws IOException {
    NonBlocking.assertMayBlock();
    hook.before(operation, path);
    Fault met = null;
    synchronized (this) {
      counts.merge(operation, 1L, Long::sum);
      for (Fault fault : faults) {
        if (fault.operation == operation && path.contains(fault.part)) {
          fault.callsLeft--;
          if (fault.callsLeft == 0 || (!fault.once && fault.callsLeft < 0)) {
            met = fault;
          }
        }
      }
      if (met != null && met.once) {
        faults.remove(met);
      }
    }
    if (met != null && met.hold != null) {
      met.hold.pass();
    } else if (met != null && met.exception != null) {
      throw new IOException(path + ": " + met.exception.getMessage(), met.exception);
    }
  }

  // ---- What tests ask

  /** Calls of a kind since the start or {@link #resetCounts()}, failed ones among them. */
  public synchronized long count(Operation operation) {
    return counts.getOrDefault(operation, 0L);
  }

  /** Bytes read since the start or {@link #resetCounts()}. */
  public synchronized long bytesRead() {
    return bytesRead;
  }

  public synchronized void resetCounts() {
    counts.clear();
    bytesRead = 0;
  }

  /** Inputs and outputs that were opened and not closed since the last crash. */
  public synchronized List<String> openHandles() {
    return List.copyOf(openHandles.values());
  }

  public void assertNoOpenHandles() {
    List<String> open = openHandles();
    if (!open.isEmpty()) {
      throw new AssertionError("not closed: " + open);
    }
  }

  /** The bytes of a file, without zeros that were reserved for a log. */
  public synchronized byte[] contents(String path) throws IOException {
    CrashableFile node = file(path);
    return Arrays.copyOf(node.bytes, node.length);
  }

  /** Makes or replaces a file, durably. */
  public synchronized void setContents(String path, byte[] contents) throws IOException {
    StorePath.check(path);
    requireDirectory(StorePath.parent(path), path);
    CrashableFile node = new CrashableFile(false);
    node.append(ByteBuffer.wrap(contents));
    node.flushedLength = node.length;
    node.syncedLength = node.length;
    node.entrySynced = true;
    nodes.put(path, node);
  }

  /** Changes one byte of a file where it lies, also for inputs that are open. */
  public synchronized void flip(String path, long offset, int mask) throws IOException {
    CrashableFile node = file(path);
    node.bytes[Math.toIntExact(Objects.checkIndex(offset, node.length))] ^= (byte) mask;
  }

  // ---- Crashes

  /** The same files as of now, in a store of their own that can crash by itself; without faults. */
  @SuppressWarnings("GuardedBy") // nobody else knows the copy yet
  public synchronized CrashableFileStore copy() {
    CrashableFileStore copy = new CrashableFileStore();
    copy.nodes = new TreeMap<>();
    nodes.forEach((path, node) -> copy.nodes.put(path, node.copy()));
    return copy;
  }

  /** The machine stops: all that was not synced is forgotten. */
  public void crash() {
    crash(CrashableFile.Survival.NOTHING, new Random(0));
  }

  /**
   * The machine stops: of what was not synced, some survives: nothing, a prefix, some sectors, or
   * all, for each file as the seed says.
   */
  public void crash(long seed) {
    crash(null, new Random(seed));
  }

  private synchronized void crash(CrashableFile.@Nullable Survival fixed, Random random) {
    TreeMap<String, CrashableFile> after = new TreeMap<>();
    nodes.forEach(
        (path, node) -> {
          CrashableFile.Survival survival =
              fixed != null ? fixed : CrashableFile.Survival.any(random);
          if (node.directory || node.entrySynced || survival != CrashableFile.Survival.NOTHING) {
            after.put(path, node.afterCrash(survival, random));
          }
        });
    nodes = after;
    abandonHandles();
  }

  /** The process ends and the machine does not: all that was written stays, as on a local disk. */
  public synchronized void kill() {
    nodes.replaceAll(
        (path, node) -> node.afterCrash(CrashableFile.Survival.EVERYTHING, new Random(0)));
    abandonHandles();
  }

  @GuardedBy("this")
  private void abandonHandles() {
    generation++;
    openHandles.clear();
    faults.clear();
  }

  @GuardedBy("this")
  private void requireAlive(int handleGeneration, String path) throws IOException {
    if (handleGeneration != generation) {
      throw new IOException(path + ": the machine crashed since this was opened");
    }
  }

  // ---- The store

  @Override
  public URI root() {
    return URI.create("memory:///");
  }

  @Override
  public FileOutput create(String path) throws IOException {
    return create(path, 0);
  }

  @Override
  public FileOutput createLog(String path, long expectedLength) throws IOException {
    if (expectedLength < 0) {
      throw new IllegalArgumentException(path + ": a length of " + expectedLength);
    }
    return create(path, expectedLength);
  }

  private FileOutput create(String path, long expectedLength) throws IOException {
    StorePath.check(path);
    enter(Operation.CREATE, path);
    synchronized (this) {
      requireDirectory(StorePath.parent(path), path);
      if (nodes.containsKey(path)) {
        throw new FileAlreadyExistsException(path);
      }
      CrashableFile node = new CrashableFile(false);
      node.expectedLength = expectedLength;
      nodes.put(path, node);
      Output output = new Output(path, node, generation);
      openHandles.put(output, "output to " + path);
      return output;
    }
  }

  @Override
  public FileInput open(String path) throws IOException {
    StorePath.check(path);
    enter(Operation.OPEN, path);
    synchronized (this) {
      Input input = new Input(path, file(path), generation);
      openHandles.put(input, "input from " + path);
      return input;
    }
  }

  @Override
  public boolean exists(String path) throws IOException {
    StorePath.check(path);
    enter(Operation.EXISTS, path);
    synchronized (this) {
      return nodes.containsKey(path);
    }
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    StorePath.checkDirectory(directory);
    enter(Operation.LIST, directory);
    synchronized (this) {
      CrashableFile node = nodes.get(directory);
      if (node != null && !node.directory) {
        throw new NotDirectoryException(directory);
      }
      return nodes.entrySet().stream()
          .filter(entry -> StorePath.parent(entry.getKey()).equals(directory))
          .map(
              entry ->
                  new Entry(
                      entry.getKey().substring(directory.isEmpty() ? 0 : directory.length() + 1),
                      entry.getValue().directory,
                      entry.getValue().visibleLength()))
          .sorted(Comparator.comparing(Entry::name))
          .toList();
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    StorePath.check(from);
    StorePath.check(to);
    enter(Operation.RENAME, from + " to " + to);
    synchronized (this) {
      CrashableFile node = nodes.get(from);
      if (node == null) {
        throw new NoSuchFileException(from);
      }
      if (nodes.containsKey(to)) {
        throw new FileAlreadyExistsException(to);
      }
      requireDirectory(StorePath.parent(to), to);
      TreeMap<String, CrashableFile> after = new TreeMap<>();
      nodes.forEach(
          (path, each) -> {
            boolean moves = path.equals(from) || path.startsWith(from + "/");
            after.put(moves ? to + path.substring(from.length()) : path, each);
          });
      node.entrySynced = true;
      nodes = after;
    }
  }

  @Override
  public void delete(String path) throws IOException {
    StorePath.check(path);
    enter(Operation.DELETE, path);
    synchronized (this) {
      if (nodes.keySet().stream().anyMatch(other -> other.startsWith(path + "/"))) {
        throw new DirectoryNotEmptyException(path);
      }
      nodes.remove(path);
    }
  }

  @Override
  public void makeDirectory(String path) throws IOException {
    StorePath.checkDirectory(path);
    enter(Operation.MAKE_DIRECTORY, path);
    synchronized (this) {
      for (String each = path; !each.isEmpty(); each = StorePath.parent(each)) {
        CrashableFile node = nodes.computeIfAbsent(each, missing -> new CrashableFile(true));
        if (!node.directory) {
          throw new FileAlreadyExistsException(each);
        }
      }
    }
  }

  @GuardedBy("this")
  private void requireDirectory(String directory, String path) throws IOException {
    if (!directory.isEmpty()) {
      CrashableFile node = nodes.get(directory);
      if (node == null || !node.directory) {
        throw new NoSuchFileException(path);
      }
    }
  }

  @GuardedBy("this")
  private CrashableFile file(String path) throws IOException {
    CrashableFile node = nodes.get(path);
    if (node == null) {
      throw new NoSuchFileException(path);
    }
    if (node.directory) {
      throw new NoSuchFileException(path, null, "it is a directory");
    }
    return node;
  }

  @Override
  public boolean canSync() {
    return canSync;
  }

  @Override
  public void close() {}

  private final class Output implements FileOutput {
    private final String path;
    private final CrashableFile node;
    private final int handleGeneration;
    private boolean failed;
    private boolean closed;

    Output(String path, CrashableFile node, int handleGeneration) {
      this.path = path;
      this.node = node;
      this.handleGeneration = handleGeneration;
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      try {
        enter(Operation.WRITE, path);
      } catch (IOException e) {
        synchronized (CrashableFileStore.this) {
          if (isUsable()) {
            source.limit(source.position() + source.remaining() / 2);
            node.append(source);
          }
          failed = true;
        }
        throw e;
      }
      synchronized (CrashableFileStore.this) {
        requireUsable();
        node.append(source);
      }
    }

    @Override
    public long position() {
      synchronized (CrashableFileStore.this) {
        return node.length;
      }
    }

    @Override
    public void flush() throws IOException {
      try {
        enter(Operation.FLUSH, path);
      } catch (IOException e) {
        synchronized (CrashableFileStore.this) {
          failed = true;
        }
        throw e;
      }
      synchronized (CrashableFileStore.this) {
        requireUsable();
        node.flushedLength = node.length;
      }
    }

    @Override
    public void sync() throws IOException {
      int written;
      synchronized (CrashableFileStore.this) {
        written = node.length;
      }
      try {
        enter(Operation.SYNC, path);
      } catch (IOException e) {
        synchronized (CrashableFileStore.this) {
          if (isUsable()) {
            node.lost.add(new int[] {node.syncedLength, written});
          }
          failed = true;
        }
        throw e;
      }
      synchronized (CrashableFileStore.this) {
        requireUsable();
        node.syncedLength = Math.max(node.syncedLength, written);
        node.flushedLength = Math.max(node.flushedLength, written);
        node.entrySynced = true;
      }
    }

    @GuardedBy("CrashableFileStore.this")
    private boolean isUsable() {
      return !closed && !failed && handleGeneration == generation;
    }

    @GuardedBy("CrashableFileStore.this")
    private void requireUsable() throws IOException {
      requireAlive(handleGeneration, path);
      if (closed) {
        throw new IOException(path + ": it is closed", new ClosedChannelException());
      }
      if (failed) {
        throw new IOException(path + ": an earlier operation failed");
      }
    }

    @Override
    public void close() throws IOException {
      synchronized (CrashableFileStore.this) {
        if (closed) {
          return;
        }
        closed = true;
        openHandles.remove(this);
        if (handleGeneration == generation && !failed) {
          node.expectedLength = 0;
        }
      }
      enter(Operation.CLOSE, path);
    }
  }

  private final class Input implements FileInput {
    private final String path;
    private final CrashableFile node;
    private final int handleGeneration;
    private final int length;
    private boolean closed;

    Input(String path, CrashableFile node, int handleGeneration) {
      this.path = path;
      this.node = node;
      this.handleGeneration = handleGeneration;
      this.length = node.visibleLength();
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public void readFully(long position, byte[] target, int offset, int count) throws IOException {
      Objects.checkFromIndexSize(offset, count, target.length);
      enter(Operation.READ, path);
      synchronized (CrashableFileStore.this) {
        requireAlive(handleGeneration, path);
        if (closed) {
          throw new IOException(path + ": it is closed", new ClosedChannelException());
        }
        if (position + count > node.visibleLength()) {
          throw new EOFException(
              path + ": ends before " + count + " bytes at " + position + ", which were wanted");
        }
        int from = (int) position;
        int there = Math.max(0, Math.min(count, node.length - from));
        System.arraycopy(node.bytes, Math.min(from, node.length), target, offset, there);
        Arrays.fill(target, offset + there, offset + count, (byte) 0);
        bytesRead += count;
      }
    }

    @Override
    public void close() {
      synchronized (CrashableFileStore.this) {
        closed = true;
        openHandles.remove(this);
      }
    }
  }
}
