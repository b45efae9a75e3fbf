package org.stele.client.cli.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.stele.client.TableDescription;
import org.stele.client.TableOptions;
import org.stele.client.TabletInfo;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.data.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(name = "table", description = "Create, delete, list, flush and compact tables.")
final class TableCommand implements Runnable {
  private final CommandContext context;

  @Spec private CommandSpec spec;

  TableCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  @Command(
      name = "create",
      description = "Create a table; it is there on all its tablets when the command returns.")
  int create(
      @Mixin NotationOption notation,
      @Parameters(paramLabel = "TABLE", description = "Letters, digits, '_', '.' and '-'.")
          String table,
      @Option(
              names = "--splits",
              paramLabel = "ROW",
              split = ",",
              description =
                  "Where the table is cut into tablets: each row is the last of one. A comma in a row is \\x2c.")
          @Nullable List<String> splits,
      @Option(
              names = "--splits-file",
              paramLabel = "FILE",
              description = "The same from a file, a row on a line.")
          @Nullable Path splitsFile,
      @Option(
              names = {"-s", "--set"},
              paramLabel = "NAME=VALUE",
              description = "A setting of the table, such as table.versions=3.")
          @Nullable Map<String, String> settings)
      throws IOException {
    TreeSet<Bytes> rows = new TreeSet<>();
    for (String split : Objects.requireNonNullElse(splits, List.<String>of())) {
      rows.add(notation.row(split));
    }
    if (splitsFile != null) {
      rows.addAll(readSplits(notation, splitsFile));
    }
    TableOptions options =
        notation.read(
            List.copyOf(rows),
            splitRows ->
                new TableOptions(splitRows, Objects.requireNonNullElse(settings, Map.of())));
    try (Session session = context.connect()) {
      session.createTable(table, options.splits(), options.settings());
    }
    return 0;
  }

  @Command(name = "delete", description = "Delete tables and all they hold.")
  int delete(@Parameters(paramLabel = "TABLE", arity = "1..*") List<String> tables) {
    try (Session session = context.connect()) {
      tables.forEach(session::deleteTable);
    }
    return 0;
  }

  @Command(
      name = "list",
      description = "Print the names of all tables; with --json their ids and settings too.")
  int list() {
    try (Session session = context.connect()) {
      for (TableDescription table : session.tables()) {
        if (context.json()) {
          Map<String, @Nullable Object> object = new LinkedHashMap<>();
          object.put("name", table.name());
          object.put("id", table.id());
          object.put("settings", table.settings());
          context.printJson(object);
        } else {
          context.out().line(table.name());
        }
      }
    }
    return 0;
  }

  @Command(
      name = "splits",
      description = {
        "Print the rows at which a table is cut; 'table create --splits-file' reads them.",
        "With --json its tablets: id, last row (null for the last tablet), server, epoch."
      })
  int splits(@Mixin NotationOption notation, @Parameters(paramLabel = "TABLE") String table) {
    try (Session session = context.connect()) {
      for (TabletInfo tablet : session.tablets(table)) {
        Bytes endRow = tablet.extent().endRow();
        String printed = endRow == null ? null : notation.notation().print(endRow);
        if (context.json()) {
          Map<String, @Nullable Object> object = new LinkedHashMap<>();
          object.put("tablet", tablet.id());
          object.put("end_row", printed);
          object.put("address", tablet.address());
          object.put("session", tablet.session());
          object.put("epoch", tablet.epoch());
          context.printJson(object);
        } else if (printed != null) {
          context.out().line(printed);
        }
      }
    }
    return 0;
  }

  @Command(
      name = "flush",
      description = "Write what was written to a table so far from memory to sorted files.")
  int flush(@Parameters(paramLabel = "TABLE", arity = "1..*") List<String> tables) {
    try (Session session = context.connect()) {
      tables.forEach(session::flush);
    }
    return 0;
  }

  @Command(
      name = "compact",
      description =
          "Merge the files of each of a table's tablets into one, without what was deleted.")
  int compact(@Parameters(paramLabel = "TABLE", arity = "1..*") List<String> tables) {
    try (Session session = context.connect()) {
      tables.forEach(session::compact);
    }
    return 0;
  }

  private static List<Bytes> readSplits(NotationOption notation, Path file) throws IOException {
    List<Bytes> splits = new ArrayList<>();
    // Line by line as bytes, so that what is not UTF-8 is refused by its place and not replaced.
    for (String line : Files.readString(file, ISO_8859_1).split("\r?\n")) {
      if (!line.isEmpty()) {
        splits.add(notation.bytes(new String(line.getBytes(ISO_8859_1), UTF_8)));
      }
    }
    return splits;
  }
}
