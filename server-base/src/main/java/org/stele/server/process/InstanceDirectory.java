package org.stele.server.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.DirectoryStream;
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

  private static final String LOCK = "lock";
  private static final String VERSION = "VERSION";
  private static final Pattern INSTANCE_ID = Pattern.compile("[A-Za-z0-9-]{1,64}");

  /**
   * What may lie in a directory that is not yet an instance: made by scripts, or by a start cut
   * short.
   */
  private static final Set<String> BEFORE_VERSION =
      Set.of(
          "conf",
          "logs",
          LOCK,
          "stele.pid",
          "status.json",
          "zookeeper",
          "store",
          VERSION + ".next");

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
    PrivateFiles.makeDirectory(directory.toAbsolutePath());
    Path root = directory.toRealPath();
    refuseNetwork(root);
    FileLock lock = lock(root);
    try {
      String id = readOrMakeVersion(root, newInstanceId);
      for (String name : List.of("conf", "logs")) {
        PrivateFiles.makeDirectory(root.resolve(name));
      }
      PrivateFiles.replace(root.resolve("stele.pid"), ProcessHandle.current().pid() + "\n");
      Files.deleteIfExists(root.resolve("status.json"));
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
      return FileLock.acquire(root.resolve(LOCK));
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
      return Long.valueOf(Files.readString(root.resolve("stele.pid"), UTF_8).strip());
    } catch (IOException | NumberFormatException e) {
      return null;
    }
  }

  private static String readOrMakeVersion(Path root, Supplier<String> newInstanceId)
      throws IOException {
    Path file = root.resolve(VERSION);
    if (Files.exists(file)) {
      return readVersion(file);
    }
    refuseStrangers(root);
    String id = newInstanceId.get();
    PrivateFiles.replace(file, "format=" + FORMAT + "\ninstance=" + id + "\n");
    return id;
  }

  private static void refuseStrangers(Path root) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
      for (Path entry : entries) {
        if (!BEFORE_VERSION.contains(entry.getFileName().toString())) {
          throw new StartException(
              root
                  + " is not empty and no Stele instance (it holds "
                  + entry.getFileName()
                  + " and no file "
                  + VERSION
                  + "): name an empty or a new directory");
        }
      }
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
    return root.resolve("status.json");
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
        Files.deleteIfExists(root.resolve("stele.pid"));
      } finally {
        lock.close();
      }
    }
  }
}
