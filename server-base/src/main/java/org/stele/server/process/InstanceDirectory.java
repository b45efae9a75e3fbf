package org.stele.server.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.stele.client.instance.InstanceContents;
import org.stele.client.instance.ServerProcess;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.file.FileLock;
import org.stele.core.file.FileLockedException;

/**
 * The directory of a server: settings, logs, and for a standalone server its data. Whoever has one
 * of these objects holds the directory's lock: no other process works in it until {@link #close()}
 * or the end of the process.
 *
 * <pre>
 *   DIR/VERSION        format=1, instance=ID
 *   DIR/lock           locked by the operating system for the life of the process
 *   DIR/stele.pid      the process that holds the lock, or held it last
 *   DIR/status.json    written when the server is ready, or can say why it is not
 *   DIR/conf/          stele.properties, stele-env.sh
 *   DIR/logs/          what the server tells its operator
 *   DIR/zookeeper/     data of the embedded ZooKeeper
 *   DIR/store/         sorted files and write-ahead logs
 * </pre>
 *
 * Directories have mode 0700 and files 0600, whatever the umask. Constant after construction;
 * thread-safe.
 */
public final class InstanceDirectory implements Closeable {
  /** The format this release writes, and the only one it reads. */
  public static final int FORMAT = 1;

  private static final Pattern INSTANCE_ID = Pattern.compile("[A-Za-z0-9-]{1,64}");

  /** File systems on which a lock of one host says nothing to another. */
  private static final Set<String> NETWORK =
      Set.of(
          "nfs",
          "nfs3",
          "nfs4",
          "cifs",
          "smb",
          "smb2",
          "smb3",
          "smbfs",
          "afs",
          "ceph",
          "lustre",
          "glusterfs",
          "fuse.glusterfs",
          "fuse.sshfs",
          "fuse.ceph",
          "beegfs",
          "gpfs");

  private final Path root;
  private final String instanceId;
  private final FileLock lock;
  private final AtomicBoolean closed = new AtomicBoolean();

  private InstanceDirectory(Path root, String instanceId, FileLock lock) {
    this.root = root;
    this.instanceId = instanceId;
    this.lock = lock;
  }

  /**
   * Opens the directory, which is made if it is missing or empty, and takes its lock.
   *
   * @param newInstanceId gives the id of an instance that is made now: random, never used before
   * @throws StartException if the directory is in use, of a newer format, on a network file system,
   *     or holds something else
   */
  public static InstanceDirectory open(Path directory, Supplier<String> newInstanceId)
      throws IOException {
    refuseStrangers(directory.toAbsolutePath());
    PrivateFiles.makeDirectory(directory.toAbsolutePath());
    Path root = directory.toRealPath();
    refuseNetwork(root);
    FileLock lock = lock(root);
    try {
      String id = readOrMakeVersion(root, newInstanceId);
      for (String name : List.of("conf", "logs")) {
        PrivateFiles.makeDirectory(root.resolve(name));
      }
      PrivateFiles.replace(
          root.resolve(ServerProcess.PID_FILE), ProcessHandle.current().pid() + "\n");
      Files.deleteIfExists(root.resolve(ServerStatusFile.NAME));
      return new InstanceDirectory(root, id, lock);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static void refuseNetwork(Path root) throws IOException {
    String type = Files.getFileStore(root).type();
    if (NETWORK.contains(type.toLowerCase(Locale.ROOT))) {
      throw new StartException(
          root
              + " lies on a network file system ("
              + type
              + "), where its lock does not hold off other"
              + " hosts; use a local disk, or a cluster with root.uri on HDFS");
    }
  }

  private static FileLock lock(Path root) throws IOException {
    try {
      return FileLock.acquire(root.resolve(ServerProcess.LOCK_FILE));
    } catch (FileLockedException e) {
      throw inUse(root, readPid(root));
    }
  }

  private static StartException inUse(Path root, @Nullable Long pid) {
    return new StartException(
        root
            + " is in use by "
            + (pid == null ? "another process" : "process " + pid)
            + ": a directory serves one server at a time");
  }

  /** The process that holds the directory's lock or held it last; null if that is not written. */
  private static @Nullable Long readPid(Path root) {
    try {
      return Long.valueOf(Files.readString(root.resolve(ServerProcess.PID_FILE), UTF_8).strip());
    } catch (IOException | NumberFormatException e) {
      return null;
    }
  }

  private static String readOrMakeVersion(Path root, Supplier<String> newInstanceId)
      throws IOException {
    Path file = root.resolve(InstanceContents.VERSION_FILE);
    if (Files.exists(file)) {
      return readVersion(file);
    }
    String id = newInstanceId.get();
    PrivateFiles.replace(file, "format=" + FORMAT + "\ninstance=" + id + "\n");
    return id;
  }

  /** Before anything in a directory is changed that may be somebody's. */
  private static void refuseStrangers(Path directory) throws IOException {
    String objection = InstanceContents.objection(directory);
    if (objection != null) {
      throw new StartException(objection);
    }
  }

  private static String readVersion(Path file) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(Files.readString(file, UTF_8)));
    String format = properties.getProperty("format", "");
    String id = properties.getProperty("instance", "");
    if (!format.matches("\\d{1,9}") || !INSTANCE_ID.matcher(id).matches()) {
      throw new StartException(
          file + " is damaged: it must have the lines format=NUMBER and instance=ID");
    }
    if (Integer.parseInt(format) != FORMAT) {
      throw new StartException(
          file
              + " says format "
              + format
              + "; this release reads format "
              + FORMAT
              + ": start it with the release that wrote it");
    }
    return id;
  }

  public Path root() {
    return root;
  }

  public String instanceId() {
    return instanceId;
  }

  public Path settingsFile() {
    return root.resolve("conf").resolve("stele.properties");
  }

  public Path logs() {
    return root.resolve("logs");
  }

  public Path statusFile() {
    return root.resolve(ServerStatusFile.NAME);
  }

  /** Made if it is missing. */
  public Path zookeeper() throws IOException {
    return made("zookeeper");
  }

  /** Made if it is missing. */
  public Path store() throws IOException {
    return made("store");
  }

  private Path made(String name) throws IOException {
    Path directory = root.resolve(name);
    PrivateFiles.makeDirectory(directory);
    return directory;
  }

  /** Gives the lock back; idempotent. */
  @Override
  public void close() throws IOException {
    if (closed.compareAndSet(false, true)) {
      try {
        Files.deleteIfExists(statusFile());
        Files.deleteIfExists(root.resolve(ServerProcess.PID_FILE));
      } finally {
        lock.close();
      }
    }
  }
}
