package org.stele.server.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;

/**
 * Files on HDFS or another Hadoop file system that really syncs: one that cannot is refused when
 * the store is opened. Directories have mode 0700, files 0600.
 *
 * <p>Thread-safe; owns the file system it was made with.
 */
public final class HadoopFileStore implements FileStore {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopFileStore.class);
  private static final FsPermission DIRECTORY = new FsPermission((short) 0700);
  private static final FsPermission FILE = new FsPermission((short) 0600);
  private static final int BUFFER_BYTES = 64 << 10;
  private static final long LEASE_WAIT_MILLIS = 1000;
  private static final Duration LEASE_LIMIT = Duration.ofMinutes(5);

  private final URI root;
  private final Path rootPath;
  private final FileSystem files;
  private final FileContext context;
  private final Clock clock;

  private HadoopFileStore(URI root, FileSystem files, FileContext context, Clock clock) {
    this.root = root;
    this.rootPath = new Path(root);
    this.files = files;
    this.context = context;
    this.clock = clock;
  }

  /**
   * Opens the store and looks whether it can sync.
   *
   * @param root such as {@code hdfs://name-node:8020/stele}; made if it is missing
   * @param settings of Hadoop, over those in {@code core-site.xml} and {@code hdfs-site.xml} of the
   *     class path
   * @throws IOException naming the file system if it cannot sync or cannot be reached
   */
  public static HadoopFileStore open(URI root, Map<String, String> settings, Clock clock)
      throws IOException {
    Configuration configuration = new Configuration();
    settings.forEach(configuration::set);
    FileSystem files = FileSystem.newInstance(root, configuration);
    try {
      HadoopFileStore store =
          new HadoopFileStore(root, files, FileContext.getFileContext(root, configuration), clock);
      store.makeDirectory("");
      store.refuseUnlessItSyncs();
      return store;
    } catch (IOException | RuntimeException e) {
      files.close();
      throw e;
    }
  }

  /** What a stream can do is known from a stream only, so one is made. */
  private void refuseUnlessItSyncs() throws IOException {
    Path probe = new Path(rootPath, "probe-" + Long.toHexString(clock.wallMillis()));
    try (FSDataOutputStream stream = createStream(probe, "probe")) {
      for (String needed : List.of("hflush", "hsync")) {
        if (!stream.hasCapability(needed)) {
          throw new IOException(
              root
                  + " is on a file system ("
                  + files.getClass().getName()
                  + ") whose streams have no "
                  + needed
                  + ": acknowledged writes would be lost; Stele needs HDFS, a local directory, or another"
                  + " file system that syncs");
        }
      }
    } finally {
      files.delete(probe, false);
    }
  }

  @Override
  public URI root() {
    return root;
  }

  @Override
  public FileOutput create(String path) throws IOException {
    NonBlocking.assertMayBlock();
    return new HadoopOutput(path, createStream(resolve(path), path));
  }

  @Override
  public FileOutput createLog(String path, long expectedLength) throws IOException {
    return create(path);
  }

  private FSDataOutputStream createStream(Path path, String name) throws IOException {
    try {
      return files.createNonRecursive(
          path,
          FILE,
          EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK),
          BUFFER_BYTES,
          files.getDefaultReplication(path),
          files.getDefaultBlockSize(path),
          null);
    } catch (org.apache.hadoop.fs.FileAlreadyExistsException e) {
      throw (IOException) new FileAlreadyExistsException(name).initCause(e);
    } catch (FileNotFoundException e) {
      throw (IOException) new NoSuchFileException(name, null, "no directory for it").initCause(e);
    }
  }

  @Override
  public FileInput open(String path) throws IOException {
    NonBlocking.assertMayBlock();
    try {
      Path resolved = resolve(path);
      long length = files.getFileStatus(resolved).getLen();
      return new HadoopInput(path, files.open(resolved, BUFFER_BYTES), length);
    } catch (FileNotFoundException e) {
      throw (IOException) new NoSuchFileException(path).initCause(e);
    } catch (AccessControlException e) {
      throw (IOException) new AccessDeniedException(path, null, e.getMessage()).initCause(e);
    }
  }

  @Override
  public boolean exists(String path) throws IOException {
    NonBlocking.assertMayBlock();
    return files.exists(resolve(path));
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    NonBlocking.assertMayBlock();
    List<Entry> entries = new ArrayList<>();
    try {
      for (FileStatus status : files.listStatus(resolve(directory))) {
        entries.add(
            new Entry(
                status.getPath().getName(),
                status.isDirectory(),
                status.isDirectory() ? 0 : status.getLen()));
      }
    } catch (FileNotFoundException e) {
      return List.of();
    }
    entries.sort(Comparator.comparing(Entry::name));
    return entries;
  }

  /** {@link FileContext#rename} fails if the target exists; {@link FileSystem#rename} may not. */
  @Override
  public void rename(String from, String to) throws IOException {
    NonBlocking.assertMayBlock();
    context.rename(resolve(from), resolve(to), Options.Rename.NONE);
  }

  @Override
  public void delete(String path) throws IOException {
    NonBlocking.assertMayBlock();
    if (!files.delete(resolve(path), false) && files.exists(resolve(path))) {
      throw new IOException(path + " could not be deleted from " + root);
    }
  }

  @Override
  public void makeDirectory(String path) throws IOException {
    NonBlocking.assertMayBlock();
    Path directory = resolve(path);
    if (!files.mkdirs(directory, DIRECTORY)) {
      throw new IOException("directory " + directory + " could not be made");
    }
  }

  @Override
  public boolean canSync() {
    return true;
  }

  /**
   * Takes the right to write a file from its writer, which may be a process that still runs;
   * returns when the file's end is fixed. On a file system without leases nothing is to be done.
   */
  public void recoverLease(String path) throws IOException {
    NonBlocking.assertMayBlock();
    if (!(files instanceof LeaseRecoverable leases)) {
      return;
    }
    Path resolved = resolve(path);
    long deadline = clock.nanos() + LEASE_LIMIT.toNanos();
    boolean closed = leases.recoverLease(resolved);
    while (!closed) {
      if (clock.nanos() - deadline > 0) {
        throw new IOException(
            path + ": its lease was not given up within " + LEASE_LIMIT.toSeconds() + " s");
      }
      LOG.info("{}: waiting for its lease", path);
      pause(path);
      closed = leases.isFileClosed(resolved);
    }
  }

  private static void pause(String path) throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(LEASE_WAIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(path + ": interrupted while waiting for its lease", e);
    }
  }

  private Path resolve(String path) {
    return path.isEmpty() ? rootPath : new Path(rootPath, path);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
