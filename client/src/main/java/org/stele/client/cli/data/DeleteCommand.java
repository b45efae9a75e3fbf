package org.stele.client.cli.data;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "delete",
    description = "Delete a row, or some of its columns; it is durable when the command returns.")
final class DeleteCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private NotationOption notation;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private String row;

  @Parameters(
      index = "2..*",
      paramLabel = "COLUMN",
      arity = "0..*",
      description = "FAMILY:QUALIFIER, or FAMILY for all its columns; none: the whole row.")
  private @Nullable List<String> columns;

  DeleteCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    Mutation mutation = notation.read(row, this::mutation);
    try (Session session = context.connect();
        Session.Writer writer = session.writer(table)) {
      writer.add(mutation);
    }
    return 0;
  }

  private Mutation mutation(String argument) {
    Mutation mutation = Mutation.of(notation.bytes(argument));
    if (columns == null) {
      return mutation.deleteRow();
    }
    for (Column column : notation.columns(columns)) {
      Bytes qualifier = column.qualifier();
      if (qualifier == null) {
        mutation.deleteFamily(column.family(), null);
      } else {
        mutation.deleteColumn(column.family(), qualifier);
      }
    }
    return mutation;
  }
}
