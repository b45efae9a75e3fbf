package org.stele.client.cli;

import org.jspecify.annotations.Nullable;

/** A command that could not do what it was asked; the message is the line the user sees. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CommandFailure(String message) {
    this(message, null);
  }

  public CommandFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
