package org.stele.client.cli.data;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "put", description = "Write one cell; it is durable when the command returns.")
final class PutCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private NotationOption notation;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private String row;

  @Parameters(
      index = "2",
      paramLabel = "FAMILY:QUALIFIER",
      description = "A colon in the family is \\x3a.")
  private String column;

  @Parameters(index = "3", paramLabel = "VALUE")
  private String value;

  @Option(names = "--visibility", paramLabel = "LABELS", defaultValue = "")
  private String visibility;

  @Option(
      names = "--timestamp",
      paramLabel = "MILLIS",
      description = "Instead of the server's time.")
  private @Nullable Long timestamp;

  PutCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    Mutation mutation = notation.read(column, this::mutation);
    try (Session session = context.connect();
        Session.Writer writer = session.writer(table)) {
      writer.add(mutation);
    }
    return 0;
  }

  private Mutation mutation(String argument) {
    Column parsed = notation.column(argument);
    Bytes qualifier = parsed.qualifier();
    if (qualifier == null) {
      throw new IllegalArgumentException(
          "'" + argument + "' is not FAMILY:QUALIFIER: the colon is missing");
    }
    return Mutation.of(notation.bytes(row))
        .put(
            parsed.family(),
            qualifier,
            notation.bytes(visibility),
            timestamp,
            notation.bytes(value));
  }
}
