package org.stele.client.cli.data;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "lookup",
    description = {
      "Print the cells of rows.",
      "Each cell is a line: row, FAMILY:QUALIFIER and value, with tabs between.",
      "A row that does not exist prints nothing."
    })
final class LookupCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private NotationOption notation;
  @Mixin private CellLines lines;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1..*", paramLabel = "ROW", arity = "1..*")
  private List<String> rows;

  @Option(
      names = {"-c", "--column"},
      paramLabel = "COLUMN",
      description = "Only this column (FAMILY:QUALIFIER) or family; may be given several times.")
  private @Nullable List<String> columns;

  LookupCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    List<Bytes> keys = notation.rows(rows);
    List<Column> wanted = notation.columns(columns);
    try (Session session = context.connect()) {
      for (Bytes key : keys) {
        for (Cell cell : session.lookup(table, key, wanted)) {
          lines.print(context, notation.notation(), cell);
        }
      }
    }
    return 0;
  }
}
