package org.stele.client.cli.data;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.Notation;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How a command's rows, columns and values are written; malformed ones are wrong usage. */
final class NotationOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--hex",
      description = "Rows, columns and values are hex digits, in arguments and in output.")
  private boolean hex;

  Notation notation() {
    return hex ? Notation.HEX : Notation.ESCAPED;
  }

  Bytes bytes(String argument) {
    return read(argument, notation()::parse);
  }

  @Nullable Bytes bytesOrNull(@Nullable String argument) {
    return argument == null ? null : bytes(argument);
  }

  /** A row, which is never empty. */
  Bytes row(String argument) {
    Bytes row = bytes(argument);
    if (row.isEmpty()) {
      throw new ParameterException(command.commandLine(), "a row must not be empty");
    }
    return row;
  }

  /** Rows of an option that may be left out: then null, and none. */
  List<Bytes> rows(@Nullable List<String> arguments) {
    return arguments == null ? List.of() : arguments.stream().map(this::row).toList();
  }

  Column column(String argument) {
    return read(argument, notation()::parseColumn);
  }

  /** Columns of an option that may be left out: then null, and none. */
  List<Column> columns(@Nullable List<String> arguments) {
    return arguments == null ? List.of() : arguments.stream().map(this::column).toList();
  }

  /** Bytes of an option that may be left out: then null, and none. */
  List<Bytes> allBytes(@Nullable List<String> arguments) {
    return arguments == null ? List.of() : arguments.stream().map(this::bytes).toList();
  }

  /** Turns what is not allowed in the arguments into wrong usage. */
  <A, T> T read(A argument, Function<A, T> reader) {
    try {
      return reader.apply(argument);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }
}
