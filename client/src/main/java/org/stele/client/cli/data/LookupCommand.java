package org.stele.client.cli.data;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
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
  private List<String> rows = new ArrayList<>();

  @Option(
      names = {"-c", "--column"},
      paramLabel = "COLUMN",
      description = "Only this column (FAMILY:QUALIFIER) or family; may be given several times.")
  private List<String> columns = new ArrayList<>();

  LookupCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    List<Bytes> keys = rows.stream().map(notation::bytes).toList();
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
