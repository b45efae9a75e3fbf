package org.stele.tserver.wal;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of files in a log directory. */
final class LogName {
  /** Beside a log: its tablet index, made by recovery. */
  static final String INDEX_SUFFIX = ".index";

  /** Beside a log: an operator accepts that damaged records of it are lost. */
  static final String ACCEPTED_LOSS_SUFFIX = ".accepted-loss";

  private static final Pattern LOG = Pattern.compile("(\\d{8,18})\\.wal");

  private LogName() {}

  static String of(long number) {
    return String.format(Locale.ROOT, "%08d.wal", number);
  }

  static String path(String directory, long number) {
    return directory + "/" + of(number);
  }

  /** The number of a log; empty if the name is not that of a log. */
  static OptionalLong number(String name) {
    Matcher matcher = LOG.matcher(name);
    return matcher.matches()
        ? OptionalLong.of(Long.parseLong(matcher.group(1)))
        : OptionalLong.empty();
  }
}
