package org.stele.client.cli;

import java.util.List;

/** Adds commands to {@code stele}; found by {@link java.util.ServiceLoader}. */
public interface CommandProvider {
  /**
   * Objects annotated with picocli's {@code @Command}, each a {@code Callable<Integer>} that
   * returns the exit code or throws: {@link CommandFailure} for a failed operation, picocli's
   * {@code ParameterException} for bad usage.
   */
  List<Object> commands(CommandContext context);
}
