package org.stele.client.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.function.Supplier;
import org.apache.thrift.TBase;
import org.stele.core.data.ByteWriter;
import org.stele.core.wire.MessageHeader;

/** A method of the IDL. Immutable. */
final class Method<T extends TBase<T, ?>> {
  private final String name;
  private final Supplier<T> result;
  private final byte[] nameUtf8;

  /**
   * @param result makes an empty result structure
   */
  Method(String name, Supplier<T> result) {
    this.name = name;
    this.result = result;
    this.nameUtf8 = name.getBytes(UTF_8);
  }

  String name() {
    return name;
  }

  /** Appends the begin of a call's message; the arguments follow. */
  void encodeCall(ByteWriter out) {
    MessageHeader.encode(out, MessageHeader.COMPACT, MessageHeader.CALL, 1, nameUtf8);
  }

  /** Whether a message in {@code frame} is of this method. */
  boolean isNamedIn(MessageHeader message, byte[] frame) {
    int from = message.nameOffset();
    return Arrays.equals(nameUtf8, 0, nameUtf8.length, frame, from, from + message.nameLength());
  }

  T newResult() {
    return result.get();
  }
}
