package org.stele.client.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.stele.core.data.ByteWriter;
import org.stele.core.wire.MessageHeader;

/**
 * A method of the IDL: its name, and how arguments are written and results read. Immutable.
 *
 * @param <A> the arguments
 * @param <R> the result
 */
final class Method<A, R> {
  private final String name;
  private final byte[] nameUtf8;
  private final Encoder<A> encoder;
  private final Decoder<R> decoder;

  Method(String name, Encoder<A> encoder, Decoder<R> decoder) {
    this.name = name;
    this.nameUtf8 = name.getBytes(UTF_8);
    this.encoder = encoder;
    this.decoder = decoder;
  }

  /**
   * A method whose arguments and results are the generated structures.
   *
   * @param newResult makes an empty result structure
   */
  static <A extends TBase<A, ?>, T extends TBase<T, ?>> Method<A, T> ofStructures(
      String name, Supplier<T> newResult) {
    return ofStructures(name, newResult, (server, result) -> result);
  }

  /**
   * A method whose arguments and results travel as the generated structures.
   *
   * @param newResult makes an empty result structure
   * @param answer what the caller gets of the structure
   */
  static <A extends TBase<A, ?>, T extends TBase<T, ?>, R> Method<A, R> ofStructures(
      String name, Supplier<T> newResult, BiFunction<String, T, R> answer) {
    return new Method<>(
        name,
        (arguments, out, tools) -> tools.writer().write(out, MessageHeader.COMPACT, arguments),
        (server, reply, message, tools) -> {
          T result = newResult.get();
          tools.read(reply, message, result);
          return answer.apply(server, result);
        });
  }

  String name() {
    return name;
  }

  /** Appends the message of a call. */
  void encodeCall(ByteWriter out, A arguments, Codec.Tools tools) throws TException {
    MessageHeader.encode(out, MessageHeader.COMPACT, MessageHeader.CALL, 1, nameUtf8);
    encoder.encode(arguments, out, tools);
  }

  /** Whether a message in {@code frame} is of this method. */
  boolean isNamedIn(MessageHeader message, byte[] frame) {
    int from = message.nameOffset();
    return Arrays.equals(nameUtf8, 0, nameUtf8.length, frame, from, from + message.nameLength());
  }

  R decodeResult(String server, byte[] reply, MessageHeader message, Codec.Tools tools)
      throws TException {
    return decoder.decode(server, reply, message, tools);
  }

  /** Appends the structure of a method's arguments, in Thrift's compact protocol. */
  @FunctionalInterface
  interface Encoder<A> {
    void encode(A arguments, ByteWriter out, Codec.Tools tools) throws TException;
  }

  /** Reads the structure of a method's result behind the begin of its message. */
  @FunctionalInterface
  interface Decoder<R> {
    R decode(String server, byte[] reply, MessageHeader message, Codec.Tools tools)
        throws TException;
  }
}
