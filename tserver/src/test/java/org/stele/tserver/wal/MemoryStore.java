package org.stele.tserver.wal;

import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;

/**
 * Files in memory, of which a crash keeps what was synced and as much of the rest as chance
 * decides. A test hooks into each write and sync, to fail it, hold it or take a picture of the
 * disk.
 */
final class MemoryStore implements FileStore {
  final TreeMap<String, Content> files = new TreeMap<>();
  volatile Hook hook = (operation, path) -> {};
  boolean preallocates = true;

  /** Called before each write, flush, sync and creation; what it throws, that throws. */
  interface Hook {
    void before(Operation operation, String path) throws IOException;
  }

  enum Operation {
    CREATE,
    WRITE,
    FLUSH,
    SYNC,
    DELETE
  }

  static final class Content {
    byte[] bytes = new byte[0];
    int written;
    int synced;
    boolean everSynced;

    byte[] visible() {
      return bytes.clone();
    }
  }

  private void before(Operation operation, String path) throws IOException {
    hook.before(operation, path);
  }

  /** What is on the disk after the machine has crashed now. */
  synchronized MemoryStore afterCrash(Random random) {
    MemoryStore store = new MemoryStore();
    files.forEach(
        (path, content) -> {
          if (content.everSynced || random.nextBoolean()) {
            Content kept = new Content();
            kept.bytes = content.bytes.clone();
            kept.everSynced = true;
            loseSome(kept.bytes, content.synced, content.written, random);
            if (content.everSynced && random.nextInt(4) == 0) {
              kept.bytes =
                  Arrays.copyOf(
                      kept.bytes, Math.max(content.synced, random.nextInt(content.written + 1)));
            } else if (!content.everSynced && random.nextBoolean()) {
              kept.bytes = Arrays.copyOf(kept.bytes, random.nextInt(kept.bytes.length + 1));
            }
            kept.written = kept.bytes.length;
            kept.synced = kept.bytes.length;
            store.files.put(path, kept);
          }
        });
    return store;
  }

  /** Of the bytes [from, to) some pieces have reached the disk, and others not. */
  private static void loseSome(byte[] bytes, int from, int to, Random random) {
    int way = random.nextInt(4);
    if (way == 0) {
      return;
    }
    if (way == 1) {
      Arrays.fill(bytes, from, to, (byte) 0);
      return;
    }
    int piece = 1 + random.nextInt(64);
    for (int at = from; at < to; at += piece) {
      if (random.nextBoolean()) {
        Arrays.fill(bytes, at, Math.min(to, at + piece), (byte) 0);
      }
    }
  }

  /** What is there after the process was killed now. */
  synchronized MemoryStore afterKill() {
    MemoryStore store = new MemoryStore();
    files.forEach(
        (path, content) -> {
          Content kept = new Content();
          kept.bytes = content.bytes.clone();
          kept.written = kept.bytes.length;
          kept.synced = kept.bytes.length;
          kept.everSynced = true;
          store.files.put(path, kept);
        });
    return store;
  }

  synchronized byte[] bytes(String path) {
    return files.get(path).visible();
  }

  synchronized void put(String path, byte[] bytes) {
    Content content = new Content();
    content.bytes = bytes.clone();
    content.written = bytes.length;
    content.synced = bytes.length;
    content.everSynced = true;
    files.put(path, content);
  }

  @Override
  public URI root() {
    return URI.create("memory:/");
  }

  @Override
  public FileOutput create(String path) throws IOException {
    return createLog(path, 0);
  }

  @Override
  public FileOutput createLog(String path, long expectedLength) throws IOException {
    before(Operation.CREATE, path);
    synchronized (this) {
      Content content = new Content();
      if (preallocates) {
        content.bytes = new byte[(int) expectedLength];
      }
      if (files.putIfAbsent(path, content) != null) {
        throw new FileAlreadyExistsException(path);
      }
      return new Output(path, content);
    }
  }

  private final class Output implements FileOutput {
    private final String path;
    private final Content content;
    private boolean closed;

    Output(String path, Content content) {
      this.path = path;
      this.content = content;
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      before(Operation.WRITE, path);
      synchronized (MemoryStore.this) {
        assertOpen();
        int end = content.written + source.remaining();
        if (end > content.bytes.length) {
          content.bytes = Arrays.copyOf(content.bytes, end);
        }
        source.get(content.bytes, content.written, source.remaining());
        content.written = end;
      }
    }

    private void assertOpen() {
      if (closed) {
        throw new IllegalStateException(path + " is closed");
      }
    }

    @Override
    public long position() {
      synchronized (MemoryStore.this) {
        return content.written;
      }
    }

    @Override
    public void flush() throws IOException {
      before(Operation.FLUSH, path);
    }

    @Override
    public void sync() throws IOException {
      before(Operation.SYNC, path);
      synchronized (MemoryStore.this) {
        assertOpen();
        content.synced = content.written;
        content.everSynced = true;
      }
    }

    @Override
    public void close() {
      synchronized (MemoryStore.this) {
        closed = true;
      }
    }
  }

  @Override
  public synchronized FileInput open(String path) throws IOException {
    Content content = files.get(path);
    if (content == null) {
      throw new NoSuchFileException(path);
    }
    byte[] bytes = content.visible();
    return new FileInput() {
      @Override
      public String path() {
        return path;
      }

      @Override
      public long length() {
        return bytes.length;
      }

      @Override
      public void readFully(long position, byte[] target, int offset, int length)
          throws IOException {
        if (position < 0 || position + length > bytes.length) {
          throw new EOFException(path);
        }
        System.arraycopy(bytes, (int) position, target, offset, length);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public synchronized boolean exists(String path) {
    return files.containsKey(path);
  }

  @Override
  public synchronized List<Entry> list(String directory) {
    List<Entry> entries = new ArrayList<>();
    for (Map.Entry<String, Content> file : files.entrySet()) {
      if (file.getKey().startsWith(directory + "/")) {
        String name = file.getKey().substring(directory.length() + 1);
        entries.add(new Entry(name, false, file.getValue().bytes.length));
      }
    }
    return entries;
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    Content content = files.remove(from);
    if (content == null || files.containsKey(to)) {
      throw new IOException("cannot rename " + from + " to " + to);
    }
    files.put(to, content);
  }

  @Override
  public void delete(String path) throws IOException {
    before(Operation.DELETE, path);
    synchronized (this) {
      files.remove(path);
    }
  }

  @Override
  public void makeDirectory(String path) {}

  @Override
  public boolean canSync() {
    return true;
  }

  @Override
  public void close() {}
}
