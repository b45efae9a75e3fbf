package org.stele.tserver.memtable;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;

/**
 * The cells of one tablet that are not in a sorted file: a skip list over encoded keys. Cells are
 * added and never changed or removed; every key has a sequence of its own, so no key comes twice.
 *
 * <p>One writer at a time (the thread wal-apply, or the one that replays a log), which the tablet
 * sees to; any number of readers, at any time, without a lock. A reader sees every cell that was
 * added before the sequence it reads at was published, and maybe later ones, which it skips.
 *
 * <h2>The list</h2>
 *
 * A node has a lowest link and, one time in four, a tower of higher ones. The writer finds the
 * places of a new node on all its levels, sets the node's own links, then links it in from the
 * lowest level up, each with release semantics; readers follow links with acquire semantics. So a
 * reader that meets a node sees it whole, and a node on a higher level is on all lower ones.
 */
public final class Memtable {
  private static final int MAX_LEVELS = 12;

  /** Array headers are 16 bytes, objects are padded to 8; node and share of the towers. */
  private static final int ARRAY_HEADER_BYTES = 16;

  private static final int NODE_BYTES = 24 + 16;

  private static final VarHandle NEXT;
  private static final VarHandle TOWER = MethodHandles.arrayElementVarHandle(Node[].class);

  static {
    try {
      NEXT = MethodHandles.lookup().findVarHandle(Node.class, "next", Node.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Node head = new Node(new byte[0], new byte[0], new Node[MAX_LEVELS - 1]);

  // Used by the writer alone.
  private final SplittableRandom random;
  private final Node[] before = new Node[MAX_LEVELS];

  // Written by the writer, read by all.
  private volatile int levels = 1;
  private volatile long bytes;
  private volatile int cells;
  private volatile boolean scopeDeletes;

  public Memtable(long seed) {
    random = new SplittableRandom(seed);
  }

  private static final class Node {
    final byte[] key;
    final byte[] value;

    /** The links of levels 1 and up; null for most. */
    final Node @Nullable [] tower;

    volatile @Nullable Node next;

    Node(byte[] key, byte[] value, Node @Nullable [] tower) {
      this.key = key;
      this.value = value;
      this.tower = tower;
    }

    @Nullable Node after(int level) {
      return level == 0 ? next : (Node) TOWER.getAcquire(requireNonNull(tower), level - 1);
    }

    void link(int level, @Nullable Node node) {
      if (level == 0) {
        NEXT.setRelease(this, node);
      } else {
        TOWER.setRelease(requireNonNull(tower), level - 1, node);
      }
    }
  }

  /** What a cell needs here, in bytes, with all overhead. */
  public static long cellBytes(int keyLength, int valueLength) {
    return NODE_BYTES + arrayBytes(keyLength) + arrayBytes(valueLength);
  }

  private static long arrayBytes(int length) {
    return ARRAY_HEADER_BYTES + (length + 7L & ~7L);
  }

  /**
   * Adds a cell; writer only. Both arrays are kept, not copied.
   *
   * @throws IllegalStateException if the key is there already
   */
  public void add(byte[] key, byte[] value) {
    Node following = findBefore(key);
    if (following != null && Arrays.equals(following.key, key)) {
      throw new IllegalStateException(
          "a key with sequence " + KeyCodec.sequence(key, 0, key.length) + " is added twice");
    }
    byte type = KeyCodec.typeCode(key, 0, key.length);
    if (type == CellType.DELETE_ROW.code() || type == CellType.DELETE_FAMILY.code()) {
      scopeDeletes = true;
    }
    int height = randomHeight();
    for (int level = levels; level < height; level++) {
      before[level] = head;
    }
    Node node = new Node(key, value, height == 1 ? null : new Node[height - 1]);
    for (int level = 0; level < height; level++) {
      node.link(level, before[level].after(level));
    }
    for (int level = 0; level < height; level++) {
      before[level].link(level, node);
    }
    if (height > levels) {
      levels = height;
    }
    count(cellBytes(key.length, value.length));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // there is one writer
  private void count(long more) {
    bytes += more;
    cells++;
  }

  /** Fills {@link #before} with the last node before the key on each level; the node after it. */
  private @Nullable Node findBefore(byte[] key) {
    Node at = head;
    Node next = null;
    for (int level = levels - 1; level >= 0; level--) {
      next = at.after(level);
      while (next != null && Arrays.compareUnsigned(next.key, key) < 0) {
        at = next;
        next = at.after(level);
      }
      before[level] = at;
    }
    return next;
  }

  /** 1 with three chances in four, and so on. */
  private int randomHeight() {
    int bits = random.nextInt();
    return Math.min(MAX_LEVELS, 1 + Integer.numberOfTrailingZeros(bits) / 2);
  }

  /** The last node before the key; the head if there is none. */
  private Node lastBefore(byte[] key) {
    Node at = head;
    for (int level = levels - 1; level >= 0; level--) {
      Node next = at.after(level);
      while (next != null && Arrays.compareUnsigned(next.key, key) < 0) {
        at = next;
        next = at.after(level);
      }
    }
    return at;
  }

  /**
   * The first node at or after the key; null if there is none. It is the node that was compared
   * with the key: to follow the link of the last node before it once more could lead to a node that
   * came in between, which is before the key.
   */
  private @Nullable Node firstFrom(byte[] key, int keyLength) {
    Node at = head;
    Node next = null;
    for (int level = levels - 1; level >= 0; level--) {
      next = at.after(level);
      while (next != null
          && Arrays.compareUnsigned(next.key, 0, next.key.length, key, 0, keyLength) < 0) {
        at = next;
        next = at.after(level);
      }
    }
    return next;
  }

  public boolean isEmpty() {
    return cells == 0;
  }

  public int cells() {
    return cells;
  }

  /** Memory of all cells, with overhead. */
  public long bytes() {
    return bytes;
  }

  /** Whether there is, or is about to be, a delete of a row or family. */
  public boolean hasScopeDeletes() {
    return scopeDeletes;
  }

  /** A new cursor. */
  public CellCursor cursor() {
    return new MemtableCursor().reset(this);
  }

  /** Walks a memtable; can be given another by {@link #reset}, so that a thread makes it once. */
  public static final class MemtableCursor implements CellCursor {
    private @Nullable Memtable memtable;
    private @Nullable Node at;

    /** Stands nowhere in {@code newMemtable}; null lets the last one go. */
    public MemtableCursor reset(@Nullable Memtable newMemtable) {
      memtable = newMemtable;
      at = null;
      return this;
    }

    @Override
    public void seek(byte[] key) {
      seek(key, key.length);
    }

    /** Moves to the first cell at or after the first {@code keyLength} bytes of {@code key}. */
    public void seek(byte[] key, int keyLength) {
      at = requireNonNull(memtable, "the cursor is closed").firstFrom(key, keyLength);
    }

    @Override
    public void seekBefore(byte[] key) {
      Memtable list = requireNonNull(memtable, "the cursor is closed");
      Node found = list.lastBefore(key);
      at = found == list.head ? null : found;
    }

    @Override
    public boolean isValid() {
      return at != null;
    }

    @Override
    public void next() {
      at = standing().after(0);
    }

    private Node standing() {
      Node node = at;
      if (node == null) {
        throw new IllegalStateException("the cursor stands on no cell");
      }
      return node;
    }

    @Override
    public byte[] keyArray() {
      return standing().key;
    }

    @Override
    public int keyOffset() {
      return 0;
    }

    @Override
    public int keyLength() {
      return standing().key.length;
    }

    @Override
    public byte[] valueArray() {
      return standing().value;
    }

    @Override
    public int valueOffset() {
      return 0;
    }

    @Override
    public int valueLength() {
      return standing().value.length;
    }

    @Override
    public void close() {
      reset(null);
    }
  }
}
