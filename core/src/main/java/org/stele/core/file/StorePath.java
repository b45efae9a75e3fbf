package org.stele.core.file;

/** The rules for paths in a {@link FileStore}, for all implementations. */
public final class StorePath {
  private StorePath() {}

  /**
   * Returns a path of a file or directory if it is allowed.
   *
   * @throws IllegalArgumentException if it is absolute or empty, or has an empty name, {@code .},
   *     {@code ..}, a backslash or a control character
   */
  public static String check(String path) {
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        throw new IllegalArgumentException("'" + path + "' is not a path within a file store");
      }
    }
    for (int i = 0; i < path.length(); i++) {
      if (path.charAt(i) < ' ' || path.charAt(i) == '\\') {
        throw new IllegalArgumentException(
            "'" + path + "' has a character that is not allowed at " + i);
      }
    }
    return path;
  }

  /** The same for a directory, which may also be the root, given as an empty path. */
  public static String checkDirectory(String path) {
    return path.isEmpty() ? path : check(path);
  }

  /** The directory a path lies in; empty: the root. */
  public static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }
}
