package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.StructReader;
import org.stele.server.metrics.TimeHistogram;

/** A method as the endpoint serves it, and what it has learned about it. Thread-safe. */
final class ServedMethod<A extends TBase<?, ?>> {
  /**
   * What the check of a structure says that was read whole but lacks a part. The value of an enum
   * that this release does not have is read as if it were not there.
   */
  private static final Pattern MISSING_FIELD = Pattern.compile("^Required field '(\\w+)' was not ");

  final String name;
  final byte[] nameUtf8;
  final boolean inline;
  final boolean system;
  final LongAdder calls = new LongAdder();

  /** From the arrival of a call to the begin of its run on a worker. */
  final TimeHistogram queueTime = new TimeHistogram();

  /** What the handler takes of its thread. Of calls on selector threads only some are timed. */
  final TimeHistogram serviceTime = new TimeHistogram();

  /** From the arrival of a call to its reply. Of calls on selector threads only some are timed. */
  final TimeHistogram replyTime = new TimeHistogram();

  private final @Nullable Predicate<A> systemIf;
  private final Supplier<A> arguments;
  private final Handler<A> handler;

  /**
   * The least time that a worker has lately taken for it, so that a call with less time left is not
   * begun. Races between workers do no harm.
   */
  private volatile long leastNanos;

  ServedMethod(Methods.Method<A> method) {
    name = method.name();
    nameUtf8 = method.name().getBytes(UTF_8);
    inline = method.execution() == Execution.INLINE;
    system = method.system();
    systemIf = method.systemIf();
    arguments = method.arguments();
    handler = method.handler();
  }

  /**
   * Decodes the arguments and runs the handler.
   *
   * @throws SteleException BAD_REQUEST if the arguments lack a part that the IDL requires
   */
  void run(StructReader reader, int protocol, byte[] frame, int offset, int end, Invocation call)
      throws Exception {
    A decoded = decode(reader, protocol, frame, offset, end);
    if (systemIf != null) {
      call.setSystem(systemIf.test(decoded));
    }
    handler.handle(decoded, call);
  }

  /** Whether a call that goes to a worker without having run is of the system class. */
  boolean isSystem(StructReader reader, int protocol, byte[] frame, int offset, int end)
      throws MalformedCallException {
    return systemIf == null ? system : systemIf.test(decode(reader, protocol, frame, offset, end));
  }

  private A decode(StructReader reader, int protocol, byte[] frame, int offset, int end)
      throws MalformedCallException {
    A decoded = arguments.get();
    try {
      reader.read(protocol, frame, offset, end, decoded);
    } catch (TException e) {
      String message = String.valueOf(e.getMessage());
      Matcher missing = MISSING_FIELD.matcher(message);
      if (missing.find()) {
        throw new SteleException(
            ErrorCode.BAD_REQUEST,
            "arguments of "
                + name
                + ": "
                + missing.group(1)
                + " is missing, or has a value that this server does not know");
      }
      throw new MalformedCallException("arguments of " + name + ": " + message);
    }
    return decoded;
  }

  /** Whether a call with that much time left can be done in time. */
  boolean canBeDoneIn(long nanosLeft) {
    long least = leastNanos;
    if (nanosLeft >= least) {
      return nanosLeft > 0;
    }
    leastNanos = least - (least >> 3) - 1;
    return false;
  }

  /** A run on a worker took so long. */
  void took(long nanos) {
    serviceTime.record(nanos);
    long least = leastNanos;
    leastNanos = Math.min(nanos, least + (least >> 6) + 1);
  }
}
