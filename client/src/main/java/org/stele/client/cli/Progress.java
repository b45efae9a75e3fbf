package org.stele.client.cli;

import java.io.PrintStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;

/**
 * A progress bar with rate and remaining time on standard error: drawn anew in place on a terminal,
 * else, if it is wanted there, as a line every two seconds. Used by one thread.
 */
public final class Progress implements AutoCloseable {
  private static final int BAR_WIDTH = 30;
  private static final long REDRAW_NANOS = 100_000_000L;
  private static final long LINE_NANOS = 2_000_000_000L;

  /** Where a progress bar goes. */
  public enum Mode {
    NONE,
    TERMINAL,
    LINES
  }

  private final Mode mode;
  private final PrintStream err;
  private final Clock clock;
  private final String label;
  private final String unit;
  private final long startNanos;
  private long drawnNanos;
  private int drawnWidth;
  private double doneShare;
  private long count;

  /**
   * Begins now.
   *
   * @param unit what is counted, in plural, such as rows
   */
  public Progress(Mode mode, PrintStream err, Clock clock, String label, String unit) {
    this.mode = mode;
    this.err = err;
    this.clock = clock;
    this.label = label;
    this.unit = unit;
    this.startNanos = clock.nanos();
    this.drawnNanos = startNanos;
  }

  /**
   * The mode for a command.
   *
   * @param wanted what the user said, or null for "on a terminal"
   */
  public static Mode mode(CommandContext context, @Nullable Boolean wanted) {
    if (wanted == null ? !context.isErrorTerminal() : !wanted) {
      return Mode.NONE;
    }
    return context.isErrorTerminal() ? Mode.TERMINAL : Mode.LINES;
  }

  /**
   * Tells how far the work is.
   *
   * @param share between 0 and 1 of the whole work; negative: not known
   * @param counted so far
   */
  public void update(double share, long counted) {
    doneShare = Math.min(share, 1);
    count = counted;
    if (mode == Mode.NONE) {
      return;
    }
    long now = clock.nanos();
    if (now - drawnNanos >= (mode == Mode.TERMINAL ? REDRAW_NANOS : LINE_NANOS)) {
      drawnNanos = now;
      draw(now);
    }
  }

  /** Seconds since it began. */
  public double seconds() {
    return (clock.nanos() - startNanos) / 1e9;
  }

  /** Shows the last state and leaves the line. */
  @Override
  public void close() {
    if (mode == Mode.NONE) {
      return;
    }
    draw(clock.nanos());
    if (mode == Mode.TERMINAL) {
      err.println();
      err.flush();
    }
  }

  private void draw(long now) {
    String text = text((now - startNanos) / 1e9);
    if (mode == Mode.LINES) {
      err.println(text);
    } else {
      err.print("\r" + text + " ".repeat(Math.max(0, drawnWidth - text.length())));
      drawnWidth = text.length();
    }
    err.flush();
  }

  /** The state after some seconds, on one line. */
  String text(double seconds) {
    double rate = seconds > 0 ? count / seconds : 0;
    String counts =
        String.format(Locale.ROOT, "%,d %s  %,d %s/s", count, unit, Math.round(rate), unit);
    if (doneShare < 0) {
      return label + "  " + counts;
    }
    int filled = (int) (doneShare * BAR_WIDTH);
    String bar = "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled);
    int percent = (int) (doneShare * 100);
    return String.format(
        Locale.ROOT, "%s  %3d%% [%s]  %s  %s", label, percent, bar, counts, remaining(seconds));
  }

  private String remaining(double seconds) {
    if (doneShare >= 1) {
      return duration(seconds) + " in all";
    }
    return doneShare <= 0 ? "" : duration(seconds / doneShare - seconds) + " left";
  }

  private static String duration(double seconds) {
    long whole = Math.round(seconds);
    return whole < 3600
        ? String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60)
        : String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  }
}
