package org.stele.client.cli.data;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Notation;
import org.stele.core.data.Cell;
import picocli.CommandLine.Option;

/**
 * Prints cells, one on a line: row, {@code FAMILY:QUALIFIER} and value with tabs between, in the
 * long form row, column, visibility, timestamp and value. {@code load --format cells} reads both.
 */
final class CellLines {
  @Option(
      names = {"-l", "--long"},
      description = "Print visibility and timestamp too, before the value.")
  private boolean longForm;

  void print(CommandContext context, Notation notation, Cell cell) {
    if (context.json()) {
      context.printJson(json(notation, cell));
      return;
    }
    StringBuilder line = new StringBuilder();
    line.append(notation.print(cell.row())).append('\t');
    line.append(notation.printColumn(cell.family(), cell.qualifier())).append('\t');
    if (longForm) {
      line.append(notation.print(cell.visibility())).append('\t');
      line.append(cell.timestamp()).append('\t');
    }
    context.out().line(line.append(notation.print(cell.value())).toString());
  }

  private static Map<String, @Nullable Object> json(Notation notation, Cell cell) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("row", notation.print(cell.row()));
    object.put("family", notation.print(cell.family()));
    object.put("qualifier", notation.print(cell.qualifier()));
    object.put("visibility", notation.print(cell.visibility()));
    object.put("timestamp", cell.timestamp());
    object.put("value", notation.print(cell.value()));
    return object;
  }
}
