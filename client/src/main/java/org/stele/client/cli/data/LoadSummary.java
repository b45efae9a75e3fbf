package org.stele.client.cli.data;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.stele.client.cli.CommandContext;
import org.stele.core.data.Mutation;

/** What was loaded, and how fast. Used by one thread. */
final class LoadSummary {
  private final String name;
  private long rows;
  private long cells;
  private double seconds;

  LoadSummary(String name) {
    this.name = name;
  }

  void add(Mutation mutation) {
    rows++;
    cells += mutation.updates().size();
  }

  long rows() {
    return rows;
  }

  /** All is durable after so many seconds. */
  void finish(double afterSeconds) {
    seconds = afterSeconds;
  }

  void print(CommandContext context) {
    double rate = seconds > 0 ? rows / seconds : 0;
    if (context.json()) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("rows", rows);
      object.put("cells", cells);
      object.put("seconds", seconds);
      object.put("rows_per_s", rate);
      context.printJson(object);
    } else {
      context
          .out()
          .line(
              String.format(
                  Locale.ROOT,
                  "%s: %d rows, %d cells in %.1f s, %.0f rows/s",
                  name,
                  rows,
                  cells,
                  seconds,
                  rate));
    }
  }
}
