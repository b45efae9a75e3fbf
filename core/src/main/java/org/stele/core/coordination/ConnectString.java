package org.stele.core.coordination;

/**
 * ZooKeeper servers and the path below which an instance lies.
 *
 * @param servers {@code host:port} with commas between
 * @param path absolute, without a slash at its end
 */
public record ConnectString(String servers, String path) {
  private static final String DEFAULT_PATH = "/stele";

  public ConnectString {
    if (servers.isBlank()) {
      throw new IllegalArgumentException("the ZooKeeper connect string names no server");
    }
    if (!path.startsWith("/") || path.length() == 1 || path.endsWith("/") || path.contains("//")) {
      throw new IllegalArgumentException("ZooKeeper path " + path + " is not like /a or /a/b");
    }
  }

  /**
   * Parses {@code host:port[,host:port…][/path]}; the path is {@code /stele} if none is given.
   *
   * @throws IllegalArgumentException if it has another form
   */
  public static ConnectString parse(String text) {
    int slash = text.indexOf('/');
    return slash < 0
        ? new ConnectString(text, DEFAULT_PATH)
        : new ConnectString(text.substring(0, slash), text.substring(slash));
  }

  @Override
  public String toString() {
    return servers + path;
  }
}
