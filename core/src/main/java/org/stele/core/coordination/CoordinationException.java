package org.stele.core.coordination;

import org.jspecify.annotations.Nullable;

/**
 * A coordination operation that was not done, or of which nobody knows; the message names the node.
 */
public final class CoordinationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  CoordinationException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }

  /** Why. */
  public enum Reason {
    /** No answer in time; a write may or may not have been done. */
    NO_ANSWER,
    /**
     * The node has another version than the one expected. If an answer was lost on the way it may
     * be the one that this very write gave it: read it again.
     */
    CONFLICT,
    /** The writer's lock node is gone: another server may have its place. */
    LOCK_LOST,
    /** The node is not there. */
    MISSING,
    /** The node is there already. */
    EXISTS,
    /** The session is over; its ephemeral nodes are gone. */
    EXPIRED,
    /** Stored bytes are malformed, too large, or of a newer release. */
    MALFORMED,
    /** The waiting thread was interrupted; its interrupt status is set. */
    INTERRUPTED,
    /** ZooKeeper refused for another reason, which the cause tells. */
    REFUSED
  }
}
