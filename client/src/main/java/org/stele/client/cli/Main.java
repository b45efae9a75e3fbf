package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import org.stele.core.settings.SettingException;
import org.stele.core.settings.SettingType;
import org.stele.core.time.Clock;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command {@code stele}. Standard output is for data, standard error for messages. The exit
 * code is 0 if all was done, 1 if it failed, 2 for bad usage.
 */
public final class Main {
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private final CommandContext context;
  private final CommandLine commandLine;

  Main(CommandContext.Surroundings surroundings, Iterable<CommandProvider> providers) {
    RootCommand root = new RootCommand();
    context = new CommandContext(surroundings, root);
    commandLine = new CommandLine(root);
    for (CommandLine command : subcommands(providers)) {
      commandLine.addSubcommand(command);
    }
    PrintWriter messages = new PrintWriter(surroundings.err(), true, UTF_8);
    commandLine
        .setOut(new PrintWriter(surroundings.out(), true, UTF_8))
        .setErr(messages)
        .registerConverter(Duration.class, Main::parseDuration)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExpandAtFiles(false)
        .setAbbreviatedSubcommandsAllowed(false)
        .setToggleBooleanFlags(false)
        .setUsageHelpWidth(100)
        .setExitCodeExceptionMapper(e -> FAILED)
        .setParameterExceptionHandler((e, arguments) -> reportUsage(e, messages))
        .setExecutionExceptionHandler((e, command, result) -> report(e));
  }

  /** The commands of all providers, in order of their names. */
  private List<CommandLine> subcommands(Iterable<CommandProvider> providers) {
    List<CommandLine> commands = new ArrayList<>();
    for (CommandProvider provider : providers) {
      provider.commands(context).forEach(command -> commands.add(new CommandLine(command)));
    }
    commands.sort(Comparator.comparing(CommandLine::getCommandName));
    return commands;
  }

  public static void main(String[] arguments) {
    int exitCode;
    try {
      CommandContext.Surroundings surroundings = surroundings();
      exitCode =
          new Main(surroundings, ServiceLoader.load(CommandProvider.class))
              .run(RawArguments.read(arguments));
      surroundings.err().flush();
    } catch (Throwable e) { // not even the command line could be made
      System.err.println("stele: " + FailureText.of(e));
      exitCode = FAILED;
    }
    // Ends the process whatever threads a library left behind.
    Runtime.getRuntime().exit(exitCode);
  }

  /** Runs one command line and returns the exit code. */
  int run(String... arguments) {
    try {
      int exitCode = commandLine.execute(arguments);
      context.out().flush();
      return exitCode;
    } catch (RuntimeException | Error e) { // picocli hands exceptions to us, but not errors
      return report(e);
    }
  }

  private static CommandContext.Surroundings surroundings() {
    String home = System.getProperty("stele.home");
    return new CommandContext.Surroundings(
        new FileInputStream(FileDescriptor.in),
        new FileOutputStream(FileDescriptor.out),
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, UTF_8),
        System.getenv(),
        home == null ? null : Path.of(home),
        Boolean.getBoolean("stele.terminal"),
        Clock.system(),
        SteleSession::connect);
  }

  private static Duration parseDuration(String text) {
    try {
      return SettingType.duration(Duration.ofMillis(1), Duration.ofDays(365))
          .parse("the time", text);
    } catch (SettingException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }

  private int reportUsage(ParameterException e, PrintWriter messages) {
    CommandLine command = e.getCommandLine();
    messages.println("stele: " + FailureText.oneLine(e.getMessage()));
    if (!UnmatchedArgumentException.printSuggestions(e, messages)) {
      messages.println("Try '" + command.getCommandSpec().qualifiedName(" ") + " --help'.");
    }
    if (context.debug()) {
      e.printStackTrace(messages);
    }
    return WRONG_USAGE;
  }

  private int report(Throwable e) {
    if (e instanceof Output.ClosedException) {
      return FAILED;
    }
    context.err().println("stele: " + FailureText.of(e));
    if (context.debug()) {
      e.printStackTrace(context.err());
    }
    return FAILED;
  }
}
