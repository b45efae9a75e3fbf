package org.stele.client.cli.data;

import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Progress;
import org.stele.client.cli.Session;
import org.stele.core.data.Mutation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(name = "sample", description = "Load real data to try things with.")
final class SampleCommand implements Runnable {
  private final CommandContext context;

  @Spec private CommandSpec spec;

  SampleCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  @Command(
      name = "unicode",
      description = {
        "Load the Unicode characters: a row for each code point, six hex digits such as 0000E9, with",
        "its name, category, script, block and more. The table is created if there is none."
      })
  int unicode(
      @Parameters(paramLabel = "TABLE") String table,
      @Option(
              names = "--progress",
              negatable = true,
              description = "Show progress on standard error, or not (default: on a terminal).")
          @Nullable Boolean progress) {
    long total = UnicodeSample.codePoints().count();
    LoadSummary summary = new LoadSummary("unicode");
    Progress.Mode mode = Progress.mode(context, progress);
    try (Session session = context.connect()) {
      TableCreation.createIfMissing(session, table);
      try (Progress bar = new Progress(mode, context.err(), context.clock(), "unicode", "rows");
          Session.Writer writer = session.writer(table)) {
        PrimitiveIterator.OfInt codePoints = UnicodeSample.codePoints().iterator();
        while (codePoints.hasNext()) {
          Mutation row = UnicodeSample.row(codePoints.nextInt());
          writer.add(row);
          summary.add(row);
          bar.update((double) summary.rows() / total, summary.rows());
        }
        writer.flush();
        summary.finish(bar.seconds());
      }
    }
    summary.print(context);
    return 0;
  }
}
