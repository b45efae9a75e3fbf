package org.stele.client.rpc;

import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;

/**
 * An asynchronous call: encoded when there is a connection for it, decoded by the thread that reads
 * its reply. Its {@link Answer} hears exactly one outcome, whatever is thrown on the way. Begun
 * once; its steps are on any threads, one after the other.
 */
final class AsyncCall<A, R> implements PendingCall.Listener {
  private final ThreadLocal<Codec> codecs;
  private final String server;
  private final Method<A, R> method;
  private final A arguments;
  private final CallLimits limits;
  private final Answer<R> answer;

  /** Set before the call is under way. */
  private @Nullable Connection connection;

  AsyncCall(
      ThreadLocal<Codec> codecs,
      String server,
      Method<A, R> method,
      A arguments,
      CallLimits limits,
      Answer<R> answer) {
    this.codecs = codecs;
    this.server = server;
    this.method = method;
    this.arguments = arguments;
    this.limits = limits;
    this.answer = answer;
  }

  String server() {
    return server;
  }

  long deadlineNanos() {
    return limits.deadlineNanos();
  }

  /**
   * Encodes and sends it.
   *
   * @return false: the connection takes no calls any more, and the call has no outcome yet
   */
  boolean send(Connection on) {
    connection = on;
    Codec codec;
    ByteWriter frame;
    try {
      codec = codecs.get();
      frame = codec.encode(on, server, method, arguments, limits);
    } catch (RuntimeException | Error e) {
      notSent(e);
      return true;
    }
    try {
      return on.callAsync(frame.array(), frame.length(), limits.deadlineNanos(), this);
    } finally {
      codec.release();
    }
  }

  /** It ends before anything was sent. */
  void notSent(Throwable why) {
    failed(
        why instanceof AttemptException known
            ? known
            : AttemptException.failedHere(server, why, false));
  }

  @Override
  public void replied(byte[] reply) {
    R result;
    try {
      result = codecs.get().decode(server, method, reply);
    } catch (AttemptException e) {
      Connection from = connection;
      if (e.reply() == null && from != null) {
        from.close(e); // it broke the protocol
      }
      failed(e);
      return;
    } catch (RuntimeException | Error e) {
      failed(AttemptException.failedHere(server, e, true));
      return;
    }
    answer.answered(result);
  }

  @Override
  public void failed(AttemptException failure) {
    answer.failed(failure);
  }
}
