package org.stele.tserver.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.Output;
import org.stele.core.file.FileStore;
import org.stele.core.file.LocalFileStore;
import org.stele.tserver.wal.LogDump;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "wal",
    description = {
      "Show and check files of the write-ahead log on a local disk.",
      "The logs beside the file are looked at too: they say what of it counts."
    })
final class WalCommand {
  private static final int OK = 0;
  private static final int DAMAGED = 1;

  private final CommandContext context;

  WalCommand(CommandContext context) {
    this.context = context;
  }

  /** What shows a log; returns whether it is sound. */
  private interface Show {
    boolean run(FileStore store, String path, PrintStream out) throws IOException;
  }

  @Command(
      name = "print",
      description = "Show the header, and a line for each group and record; no cells.")
  int print(@Parameters(paramLabel = "FILE") Path file) throws IOException {
    return show(file, LogDump::print);
  }

  @Command(name = "dump", description = "Show the header, groups, records and their cells.")
  int dump(@Parameters(paramLabel = "FILE") Path file) throws IOException {
    return show(file, LogDump::dump);
  }

  @Command(
      name = "check",
      description =
          "Read every byte, say what is there and what is damaged; exit code 1 if anything is.")
  int check(@Parameters(paramLabel = "FILE") Path file) throws IOException {
    return show(file, LogDump::check);
  }

  private int show(Path file, Show show) throws IOException {
    Path absolute = file.toAbsolutePath().normalize();
    Path directory = absolute.getParent();
    Path above = directory == null ? null : directory.getParent();
    if (above == null || !Files.isRegularFile(absolute)) {
      throw new CommandFailure("there is no file " + file);
    }
    try (FileStore store = LocalFileStore.open(above);
        PrintStream out = new PrintStream(new Lines(context.out()), false, UTF_8)) {
      return show.run(store, above.relativize(absolute).toString(), out) ? OK : DAMAGED;
    }
  }

  /** Gives whole lines to the output of the command. */
  private static final class Lines extends OutputStream {
    private final Output out;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Lines(Output out) {
      this.out = out;
    }

    @Override
    public void write(int b) {
      if (b == '\n') {
        out.line(line.toString(UTF_8));
        line.reset();
      } else {
        line.write(b);
      }
    }
  }
}
