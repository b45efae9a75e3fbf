package org.stele.client.cli.data;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Range;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "scan",
    description = {
      "Print the cells of a table in order, or count them.",
      "Each cell is a line: row, FAMILY:QUALIFIER and value, with tabs between.",
      "Rows from --start up to --stop, or those with a prefix, or single ones; else all."
    },
    sortOptions = false)
final class ScanCommand implements Callable<Integer> {
  private final CommandContext context;

  @Spec private CommandSpec spec;
  @Mixin private NotationOption notation;
  @Mixin private CellLines lines;

  @Parameters(paramLabel = "TABLE")
  private String table;

  @Option(names = "--start", paramLabel = "ROW", description = "The first row.")
  private @Nullable String start;

  @Option(names = "--start-exclusive", description = "Leave the --start row out.")
  private boolean startExclusive;

  @Option(names = "--stop", paramLabel = "ROW", description = "The row to stop before.")
  private @Nullable String stop;

  @Option(names = "--stop-inclusive", description = "Take the --stop row in.")
  private boolean stopInclusive;

  @Option(
      names = "--prefix",
      paramLabel = "ROWS",
      description = "All rows that begin so; may be given several times.")
  private @Nullable List<String> prefixes;

  @Option(
      names = "--row",
      paramLabel = "ROW",
      description = "This row; may be given several times.")
  private @Nullable List<String> rows;

  @Option(
      names = {"-c", "--column"},
      paramLabel = "COLUMN",
      description = "Only this column (FAMILY:QUALIFIER) or family; may be given several times.")
  private @Nullable List<String> columns;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "9223372036854775807",
      description = "Stop after N cells.")
  private long limit;

  @Option(names = "--count", description = "Print 'N rows, M cells' instead of the cells.")
  private boolean countOnly;

  private long rowCount;
  private long cellCount;

  ScanCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    if (limit < 0) {
      throw new ParameterException(spec.commandLine(), "--limit " + limit + " is negative");
    }
    if (startExclusive && start == null || stopInclusive && stop == null) {
      throw new ParameterException(
          spec.commandLine(),
          "--start-exclusive goes with --start, and --stop-inclusive with --stop");
    }
    List<Range> ranges = ranges();
    List<Column> wanted = notation.columns(columns);
    try (Session session = context.connect();
        Session.Cells cells = session.scan(table, ranges, wanted, limit)) {
      takeIn(cells);
    }
    if (countOnly) {
      printCount();
    }
    return 0;
  }

  private void takeIn(Session.Cells cells) {
    Bytes lastRow = Bytes.EMPTY; // no row is empty
    while (cells.hasNext()) {
      Cell cell = cells.next();
      cellCount++;
      if (!cell.row().equals(lastRow)) {
        lastRow = cell.row();
        rowCount++;
      }
      if (!countOnly) {
        lines.print(context, notation.notation(), cell);
      }
    }
  }

  private void printCount() {
    if (context.json()) {
      Map<String, Object> counts = new LinkedHashMap<>();
      counts.put("rows", rowCount);
      counts.put("cells", cellCount);
      context.printJson(counts);
    } else {
      context.out().line(rowCount + " rows, " + cellCount + " cells");
    }
  }

  private List<Range> ranges() {
    List<Range> ranges = new ArrayList<>();
    if (start != null || stop != null) {
      ranges.add(notation.read(this, ScanCommand::startToStop));
    }
    for (Bytes prefix : notation.allBytes(prefixes)) {
      ranges.add(Range.prefix(prefix));
    }
    for (Bytes row : notation.rows(rows)) {
      ranges.add(Range.row(row));
    }
    return ranges.isEmpty() ? List.of(Range.all()) : ranges;
  }

  private Range startToStop() {
    return Range.rows(
        notation.bytesOrNull(start), !startExclusive, notation.bytesOrNull(stop), stopInclusive);
  }
}
