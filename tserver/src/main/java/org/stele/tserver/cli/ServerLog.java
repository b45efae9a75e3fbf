package org.stele.tserver.cli;

import java.nio.file.Path;
import org.stele.client.cli.CommandContext;

/**
 * Tells conf/log4j2-server.xml where a server's log goes. It has to be called before the first
 * logger is made, since that reads the configuration.
 */
final class ServerLog {
  private static final String DIRECTORY = "stele.logs";
  private static final String TERMINAL_LEVEL = "stele.terminal.level";

  private ServerLog() {}

  /**
   * Logs into {@code DIR/stele.log}; on standard error only errors, on a terminal all that is of
   * interest.
   *
   * @param background standard error is a file that grows as long as the server runs: nothing is
   *     logged there
   */
  static void into(Path directory, CommandContext context, boolean background) {
    System.setProperty(DIRECTORY, directory.toString());
    if (System.getProperty(TERMINAL_LEVEL) == null) {
      String level = context.isErrorTerminal() ? "info" : "error";
      System.setProperty(TERMINAL_LEVEL, background ? "off" : level);
    }
  }
}
