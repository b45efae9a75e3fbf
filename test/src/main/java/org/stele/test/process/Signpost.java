package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.stele.client.location.MetadataSchema;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.coordination.RootRecord;
import org.stele.core.coordination.ServerRecord;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.time.Clock;
import org.stele.server.zookeeper.EmbeddedZooKeeper;

/**
 * A ZooKeeper in this process that sends clients wherever a test wants: each of its instances says
 * that the metadata is served at an address of the test's choice.
 */
public final class Signpost implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final EmbeddedZooKeeper zooKeeper;
  private final List<Coordination> sessions = new CopyOnWriteArrayList<>();

  /**
   * @param directory for ZooKeeper's data; it is there
   */
  public Signpost(Path directory) {
    try {
      zooKeeper = EmbeddedZooKeeper.start(directory, "127.0.0.1", 0, Clock.system(), () -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  public int port() {
    return zooKeeper.port();
  }

  /**
   * Makes an instance.
   *
   * @param path of its nodes, such as {@code /one}
   * @param instanceId that servers must be of
   * @param metadataAddress host:port of the server with the metadata
   * @return what clients connect to
   */
  public String instance(String path, String instanceId, String metadataAddress) {
    String connect = "127.0.0.1:" + port() + path;
    SortedMap<Column, Bytes> root = RootRecord.emptyColumns();
    root.put(MetadataSchema.TABLET_ID_COLUMN, Bytes.of(MetadataSchema.TABLET_ID));
    root.put(MetadataSchema.SESSION, Bytes.of("1"));
    root.put(MetadataSchema.ADDRESS, Bytes.of(metadataAddress));
    Coordination coordination =
        Coordination.start(
            new CoordinationOptions(ConnectString.parse(connect), LIMIT, LIMIT), Clock.system());
    sessions.add(coordination);
    coordination.awaitConnected(LIMIT);
    coordination.initialize(new InstanceRecord(instanceId, 1), new RootRecord(root));
    coordination.createServerNode(new ServerRecord(metadataAddress, "0", Map.of()));
    return connect;
  }

  @Override
  public void close() throws IOException {
    sessions.forEach(Coordination::close);
    zooKeeper.close();
  }
}
