package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TBase;
import org.jspecify.annotations.Nullable;

/**
 * The served methods by the bytes of their names as they stand in a frame, so that finding one
 * makes no string. Open addressing, at most half full. Immutable.
 */
final class MethodTable {
  private final byte[] @Nullable [] names;
  private final @Nullable ServedMethod<?>[] methods;
  private final List<ServedMethod<?>> all;

  MethodTable(Methods declared) {
    Map<String, Methods.Method<?>> byName = declared.byName();
    int size = Integer.highestOneBit(Math.max(4, byName.size() * 2)) << 1;
    names = new byte[size][];
    methods = new ServedMethod<?>[size];
    Map<Methods.Method<?>, ServedMethod<?>> served = new HashMap<>();
    byName.forEach(
        (name, method) ->
            put(name.getBytes(UTF_8), served.computeIfAbsent(method, MethodTable::serve)));
    all = List.copyOf(served.values());
  }

  private static <A extends TBase<?, ?>> ServedMethod<A> serve(Methods.Method<A> method) {
    return new ServedMethod<>(method);
  }

  private void put(byte[] name, ServedMethod<?> method) {
    int slot = hash(name, 0, name.length) & names.length - 1;
    while (names[slot] != null) {
      slot = slot + 1 & names.length - 1;
    }
    names[slot] = name;
    methods[slot] = method;
  }

  /** Null if there is no such method. */
  @Nullable ServedMethod<?> find(byte[] frame, int offset, int length) {
    int slot = hash(frame, offset, length) & names.length - 1;
    for (byte[] name = names[slot]; name != null; name = names[slot]) {
      if (Arrays.equals(name, 0, name.length, frame, offset, offset + length)) {
        return methods[slot];
      }
      slot = slot + 1 & names.length - 1;
    }
    return null;
  }

  Collection<ServedMethod<?>> all() {
    return all;
  }

  /** Of the first 64 bytes: no name is longer, and a long unknown one costs no more. */
  private static int hash(byte[] array, int offset, int length) {
    int hash = length;
    for (int i = offset, end = offset + Math.min(length, 64); i < end; i++) {
      hash = hash * 31 + array[i];
    }
    return hash ^ hash >>> 15;
  }
}
