package org.stele.client.instance;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.json.Json;

/**
 * What a server that is ready says about itself in {@code DIR/status.json}: one JSON object. The
 * server writes it when it serves and removes it when it ends; after a crash the file is stale,
 * which pid and {@code startTicks} together show (see {@link ServerProcess}).
 *
 * @param pid of the server process
 * @param startTicks when the process began, as in field 22 of {@code /proc/PID/stat}; 0 if unknown
 * @param address host:port of the endpoint
 * @param zookeeper the connect string of clients
 * @param http host:port of the status page, null if there is none
 * @param session the server's ZooKeeper session
 * @param instance the instance's id
 */
public record ServerStatusFile(
    long pid,
    long startTicks,
    String address,
    String zookeeper,
    @Nullable String http,
    String version,
    String session,
    String instance) {
  public static final String NAME = "status.json";

  /**
   * Reads {@code DIR/status.json}; null if there is none. One that cannot be understood, as a loss
   * of power may leave it, counts as none: nothing depends on it but who asks where the server is,
   * and the next start writes a new one.
   */
  public static @Nullable ServerStatusFile read(Path directory) throws IOException {
    try {
      return parse(new String(Files.readAllBytes(directory.resolve(NAME)), UTF_8));
    } catch (NoSuchFileException | MalformedBytesException e) {
      return null;
    }
  }

  /**
   * Replaces {@code DIR/status.json} in one step, also for one who reads it after a loss of power;
   * only its owner may read it.
   */
  public void write(Path directory) throws IOException {
    Path file = directory.resolve(NAME);
    Path next = directory.resolve(NAME + ".new");
    Files.deleteIfExists(next);
    try (FileChannel channel =
        FileChannel.open(
            next,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = UTF_8.encode(toJson() + "\n");
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  String toJson() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("pid", pid);
    object.put("startTicks", startTicks);
    object.put("address", address);
    object.put("zookeeper", zookeeper);
    if (http != null) {
      object.put("http", http);
    }
    object.put("version", version);
    object.put("session", session);
    object.put("instance", instance);
    return Json.write(object);
  }

  static ServerStatusFile parse(String text) {
    Map<String, @Nullable Object> object = Json.parseObject(text);
    return new ServerStatusFile(
        number(object, "pid"),
        number(object, "startTicks"),
        text(object, "address"),
        text(object, "zookeeper"),
        object.get("http") == null ? null : text(object, "http"),
        text(object, "version"),
        text(object, "session"),
        text(object, "instance"));
  }

  private static long number(Map<String, @Nullable Object> object, String name) {
    if (object.get(name) instanceof Long number) {
      return number;
    }
    throw new MalformedBytesException("no number \"" + name + "\"");
  }

  private static String text(Map<String, @Nullable Object> object, String name) {
    if (object.get(name) instanceof String string) {
      return string;
    }
    throw new MalformedBytesException("no text \"" + name + "\"");
  }
}
