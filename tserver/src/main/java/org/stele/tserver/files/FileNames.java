package org.stele.tserver.files;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives sorted files their ids: the session of the server that makes them and a counter, so that an
 * id is never used twice. Thread-safe.
 */
public final class FileNames {
  private static final String DIRECTORY = "tables/";
  private static final String SUFFIX = ".sf";

  private final String session;
  private final AtomicLong next = new AtomicLong(1);

  /**
   * @param session of this server, in hexadecimal
   */
  public FileNames(String session) {
    this.session = session;
  }

  /** An id that was never given before. */
  public String nextId() {
    return session + "-" + next.getAndIncrement();
  }

  /** The session whose server made the file. */
  public static String sessionOf(String fileId) {
    int dash = fileId.lastIndexOf('-');
    if (dash <= 0) {
      throw new IllegalArgumentException(fileId + " is not the id of a file");
    }
    return fileId.substring(0, dash);
  }

  /** The directory of a table's files in the file store. */
  public static String directory(String tableId) {
    return DIRECTORY + tableId;
  }

  /** Where a file lies in the file store. */
  public static String path(String tableId, String fileId) {
    return directory(tableId) + "/" + fileId + SUFFIX;
  }
}
