package org.stele.tserver;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.location.MetadataSchema;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;
import org.stele.server.metadata.RootTable;
import org.stele.server.process.StartException;

/**
 * Sees to it that ZooKeeper and the file store are of one instance. The store's file {@code
 * INSTANCE} holds its id; an instance that neither has is made. A store with data whose ZooKeeper
 * is empty, or of another instance, is refused: its data would be overwritten. So is a store
 * without data whose instance has served tablets: it is not the store that these were in.
 */
final class InstanceIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(InstanceIdentity.class);
  private static final String FILE = "INSTANCE";
  private static final int FORMAT = 1;
  private static final int MAX_FILE_BYTES = 200;

  private InstanceIdentity() {}

  /**
   * The id of the instance.
   *
   * @param newId of an instance that is made now
   */
  static String establish(
      Coordination coordination, FileStore store, String newId, Duration timeout)
      throws IOException {
    String stored = read(store);
    InstanceRecord record = coordination.readInstance(timeout);
    if (record == null) {
      if (stored != null) {
        throw new StartException(
            store.root()
                + " holds data of instance "
                + stored
                + ", but ZooKeeper at "
                + coordination.connectString()
                + " knows no instance: restore its data, or name an empty root.uri");
      }
      record = make(coordination, newId, timeout);
    }
    if (record.format() != FORMAT) {
      throw new StartException(
          "the instance at "
              + coordination.connectString()
              + " has format "
              + record.format()
              + "; this release reads format "
              + FORMAT);
    }
    if (stored == null && hasServed(coordination, timeout)) {
      stored = read(store); // another server may have made it since
      if (stored == null) {
        throw new StartException(
            store.root()
                + " holds no data, but instance "
                + record.id()
                + " at "
                + coordination.connectString()
                + " has some: mount or restore its file store, or name it in root.uri");
      }
    }
    if (stored == null) {
      write(store, record.id());
    } else if (!stored.equals(record.id())) {
      throw new StartException(
          store.root()
              + " holds data of instance "
              + stored
              + ", but ZooKeeper at "
              + coordination.connectString()
              + " is of instance "
              + record.id());
    }
    return record.id();
  }

  /** Whether a server of the instance ever had a tablet; each has made the store its own before. */
  private static boolean hasServed(Coordination coordination, Duration timeout) {
    return coordination.readRoot(timeout).value().columns().containsKey(MetadataSchema.EPOCH);
  }

  private static InstanceRecord make(Coordination coordination, String id, Duration timeout) {
    InstanceRecord made = new InstanceRecord(id, FORMAT);
    try {
      coordination.initialize(made, RootTable.initialRoot());
      LOG.info("instance {} made at {}", id, coordination.connectString());
      return made;
    } catch (CoordinationException e) {
      InstanceRecord other = coordination.readInstance(timeout);
      if (e.reason() == CoordinationException.Reason.EXISTS && other != null) {
        return other; // another server was first
      }
      throw e;
    }
  }

  private static @Nullable String read(FileStore store) throws IOException {
    if (!store.exists(FILE)) {
      return null;
    }
    try (FileInput in = store.open(FILE)) {
      byte[] bytes = new byte[(int) Math.min(in.length(), MAX_FILE_BYTES)];
      in.readFully(0, bytes, 0, bytes.length);
      return new String(bytes, UTF_8).strip();
    }
  }

  /** Written beside and renamed: there is a whole one or none. */
  private static void write(FileStore store, String id) throws IOException {
    String next = FILE + ".next";
    store.delete(next);
    try (FileOutput out = store.create(next)) {
      out.write(ByteBuffer.wrap((id + "\n").getBytes(UTF_8)));
      out.sync();
    }
    try {
      store.rename(next, FILE);
    } catch (IOException e) {
      if (!id.equals(read(store))) { // another server was first
        throw e;
      }
    }
  }
}
