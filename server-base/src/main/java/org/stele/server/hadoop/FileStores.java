package org.stele.server.hadoop;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.file.FileStore;
import org.stele.core.file.LocalFileStore;
import org.stele.core.time.Clock;

/** Opens the file store that {@code root.uri} names. */
public final class FileStores {
  private FileStores() {}

  /**
   * Opens a store that really syncs.
   *
   * @param uri blank: the local directory {@code otherwise}
   * @param otherwise null if there is none
   * @throws IOException naming the store and why it is not usable
   */
  public static FileStore open(String uri, @Nullable Path otherwise, Clock clock)
      throws IOException {
    FileStore store = openAny(uri, otherwise, clock);
    if (!store.canSync()) {
      store.close();
      throw new IOException(
          store.root() + " cannot sync: acknowledged writes would be lost, so it is refused");
    }
    return store;
  }

  private static FileStore openAny(String uri, @Nullable Path otherwise, Clock clock)
      throws IOException {
    if (uri.isBlank()) {
      if (otherwise == null) {
        throw new IOException("root.uri is blank: it must say where the instance's files lie");
      }
      return LocalFileStore.open(otherwise);
    }
    URI root = URI.create(uri);
    return isLocal(root)
        ? LocalFileStore.open(Path.of(root.getPath()))
        : HadoopFileStore.open(root, Map.of(), clock);
  }

  /** Whether a store lies on a disk of this machine. */
  public static boolean isLocal(URI root) {
    return root.getScheme() == null || root.getScheme().equals("file");
  }

  /** Takes files from writers that may still run, where a store has that. */
  public static void recoverLease(FileStore store, String path) throws IOException {
    if (store instanceof HadoopFileStore hadoop) {
      hadoop.recoverLease(path);
    }
  }
}
