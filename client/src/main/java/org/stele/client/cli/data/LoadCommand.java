package org.stele.client.cli.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Progress;
import org.stele.client.cli.Session;
import org.stele.client.cli.data.DelimitedReader.Delimiter;
import org.stele.client.cli.data.RecordReader.BadLineException;
import org.stele.core.data.Mutation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "load",
    description = {
      "Load a csv or tsv file.",
      "Its header line names the columns, each further line is a row.",
      "A column FAMILY:QUALIFIER goes there, one without a colon into --family. Fields are taken byte",
      "for byte; an empty field is an empty value. --format cells reads what 'stele scan' prints.",
      "A bad line is named and left out; then the exit code is 1."
    },
    sortOptions = false)
final class LoadCommand implements Callable<Integer> {
  private static final int SHOWN_BAD_LINES = 20;

  private final CommandContext context;

  @Spec private CommandSpec spec;
  @Mixin private NotationOption notation;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "FILE", description = "The file; - is standard input.")
  private String file;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "csv, tsv or cells (default: by the file's name).")
  private @Nullable Format format;

  @Option(
      names = "--row",
      paramLabel = "COLUMN",
      description = "The column that is the row; it is not stored as a cell (default: the first).")
  private @Nullable String keyColumn;

  @Option(
      names = "--family",
      paramLabel = "F",
      defaultValue = "f",
      description = "Family of columns whose name has none (default: f).")
  private String family;

  @Option(
      names = "--header",
      paramLabel = "NAME",
      split = ",",
      description = "Names of the columns, if the file has no header line.")
  private @Nullable List<String> header;

  @Option(
      names = "--escapes",
      description = "Fields of a csv or tsv file may have \\xNN and \\\\ escapes.")
  private boolean escapes;

  @Option(names = "--create", description = "Create the table if there is none.")
  private boolean create;

  @Option(
      names = "--max-bad-lines",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Stop at more bad lines than this (default: 1000).")
  private long maxBadLines;

  @Option(
      names = "--progress",
      negatable = true,
      description = "Show progress on standard error, or not (default: on a terminal).")
  private @Nullable Boolean progress;

  private long badLines;

  LoadCommand(CommandContext context) {
    this.context = context;
  }

  /** What a file may be. */
  enum Format {
    CSV,
    TSV,
    CELLS
  }

  @Override
  public Integer call() throws IOException {
    Format given = format != null ? format : formatByName();
    if (maxBadLines < 0) {
      throw new ParameterException(
          spec.commandLine(), "--max-bad-lines " + maxBadLines + " is negative");
    }
    if (given == Format.CELLS && (keyColumn != null || header != null || escapes)) {
      throw new ParameterException(
          spec.commandLine(), "--row, --header and --escapes are for csv and tsv, not for cells");
    }
    try (CountingInputStream in = new CountingInputStream(open());
        RecordReader reader = reader(in, given);
        Session session = context.connect()) {
      if (create) {
        TableCreation.createIfMissing(session, table);
      }
      LoadSummary summary = load(in, reader, session);
      summary.print(context);
    }
    if (badLines > 0) {
      context.err().println("stele: " + file + ": " + badLines + " bad lines were not loaded");
      return 1;
    }
    return 0;
  }

  private LoadSummary load(CountingInputStream in, RecordReader reader, Session session)
      throws IOException {
    long total = file.equals("-") ? 0 : Files.size(Path.of(file));
    LoadSummary summary = new LoadSummary(name());
    Progress.Mode mode = Progress.mode(context, progress);
    try (Progress bar = new Progress(mode, context.err(), context.clock(), name(), "rows");
        Session.Writer writer = session.writer(table)) {
      while (badLines <= maxBadLines) {
        try {
          Mutation mutation = reader.next();
          if (mutation == null) {
            break;
          }
          writer.add(mutation);
          summary.add(mutation);
          bar.update(total == 0 ? -1 : (double) in.count() / total, summary.rows());
        } catch (BadLineException e) {
          reportBadLine(e);
        }
      }
      writer.flush();
      bar.update(badLines <= maxBadLines ? 1 : -1, summary.rows());
      summary.finish(bar.seconds());
    }
    return summary;
  }

  private void reportBadLine(BadLineException e) {
    badLines++;
    if (badLines <= SHOWN_BAD_LINES) {
      context.err().println("stele: " + file + ", " + e.getMessage());
    } else if (badLines == SHOWN_BAD_LINES + 1) {
      context.err().println("stele: " + file + ": further bad lines are only counted");
    }
    if (badLines > maxBadLines) {
      context.err().println("stele: " + file + ": stopped at " + badLines + " bad lines");
    }
  }

  private RecordReader reader(InputStream in, Format given) throws IOException {
    return switch (given) {
      case CELLS -> new CellsReader(in, notation.notation());
      case CSV -> new DelimitedReader(in, Delimiter.CSV, header, keyColumn, family, escapes);
      case TSV -> new DelimitedReader(in, Delimiter.TSV, header, keyColumn, family, escapes);
    };
  }

  private InputStream open() throws IOException {
    return file.equals("-") ? context.in() : Files.newInputStream(Path.of(file));
  }

  private String name() {
    return file.equals("-") ? "standard input" : String.valueOf(Path.of(file).getFileName());
  }

  private Format formatByName() {
    String name = file.toLowerCase(Locale.ROOT);
    if (name.endsWith(".csv")) {
      return Format.CSV;
    } else if (name.endsWith(".tsv") || name.endsWith(".tab")) {
      return Format.TSV;
    }
    throw new ParameterException(
        spec.commandLine(),
        "the name of '" + file + "' does not tell its format: give --format csv|tsv|cells");
  }
}
