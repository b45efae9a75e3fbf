package org.stele.tserver.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;

/**
 * Prints levels as they come: lines of a table for people, or one JSON object each. Used by one
 * thread.
 */
final class ResultTable {
  private final CommandContext context;
  private final List<Column> columns;
  private boolean headed;

  /**
   * A column of the table.
   *
   * @param key of the level's JSON object
   * @param decimals of a number
   */
  record Column(String key, String title, int decimals) {
    private static final int LEAST_WIDTH = 9;

    String cell(@Nullable Object value) {
      return pad(
          value instanceof Double number
              ? String.format(Locale.ROOT, "%." + decimals + "f", number)
              : value == null ? "-" : value.toString());
    }

    String pad(String text) {
      int width = Math.max(LEAST_WIDTH, title.length());
      return " ".repeat(Math.max(0, width - text.length())) + text;
    }
  }

  /** The columns that every benchmark has. */
  static final List<Column> COMMON =
      List.of(
          new Column("avg_ms", "mean ms", 3),
          new Column("p50_ms", "p50 ms", 3),
          new Column("p99_ms", "p99 ms", 3),
          new Column("max_ms", "max ms", 1),
          new Column("server_user_us", "user µs", 2),
          new Column("server_sys_us", "system µs", 2),
          new Column("ctx_voluntary", "ctx vol", 3),
          new Column("ctx_involuntary", "ctx invol", 3));

  ResultTable(CommandContext context, List<Column> columns) {
    this.context = context;
    this.columns = List.copyOf(columns);
  }

  /** Prints a level, which the reader sees at once. */
  void print(Map<String, @Nullable Object> level) {
    if (context.json()) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("system", "stele");
      object.putAll(level);
      context.printJson(object);
    } else {
      if (!headed) {
        headed = true;
        line(column -> column.pad(column.title()));
      }
      line(column -> column.cell(level.get(column.key())));
    }
    context.out().flush();
  }

  private void line(Function<Column, String> cell) {
    context.out().line(String.join("  ", columns.stream().map(cell).toList()));
  }
}
