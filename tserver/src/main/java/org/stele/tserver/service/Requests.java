package org.stele.tserver.service;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.DataLimits;
import org.stele.core.data.Durability;
import org.stele.core.data.LimitException;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.Key;
import org.stele.core.thrift.UpdateType;
import org.stele.core.thrift.WriteRequest;
import org.stele.core.wire.PackedMutations;

/**
 * From Thrift's types to ours. What is not as it must be is refused, naming the part: BAD_REQUEST,
 * or TOO_LARGE with the limit.
 */
final class Requests {
  private Requests() {}

  static SteleException bad(String message) {
    return new SteleException(ErrorCode.BAD_REQUEST, message);
  }

  /**
   * A field that the request must have. (Thrift's own check comes after reading and is not made for
   * arguments of methods.)
   */
  static <T> T required(@Nullable T value, String name) {
    if (value == null) {
      throw bad(name + " is missing");
    }
    return value;
  }

  static int limit(int value, String name) {
    if (value < 0) {
      throw bad(name + " is " + value + ", it must not be negative");
    }
    return value;
  }

  /** A copy: the buffer lies in the frame. */
  static Bytes bytes(ByteBuffer buffer) {
    return Bytes.of(buffer);
  }

  static @Nullable Bytes bytesOrNull(@Nullable ByteBuffer buffer) {
    return buffer == null ? null : Bytes.of(buffer);
  }

  static byte @Nullable [] arrayOrNull(@Nullable ByteBuffer buffer) {
    return buffer == null ? null : Bytes.of(buffer).unsafeArray();
  }

  static List<Column> columns(@Nullable List<org.stele.core.thrift.Column> columns) {
    if (columns == null || columns.isEmpty()) {
      return List.of();
    }
    List<Column> result = new ArrayList<>(columns.size());
    for (org.stele.core.thrift.Column column : columns) {
      result.add(
          new Column(
              bytes(required(column.bufferForFamily(), "family of a column")),
              bytesOrNull(column.bufferForQualifier())));
    }
    return result;
  }

  static Range range(org.stele.core.thrift.Range range) {
    try {
      return new Range(
          bound(
              range.getStart(), !range.isSetStartInclusive() || range.isStartInclusive(), "start"),
          bound(range.getStop(), !range.isSetStopInclusive() || range.isStopInclusive(), "stop"));
    } catch (IllegalArgumentException e) {
      throw new SteleException(ErrorCode.BAD_REQUEST, String.valueOf(e.getMessage()), e);
    }
  }

  private static @Nullable Bound bound(@Nullable Key key, boolean inclusive, String name) {
    if (key == null) {
      return null;
    }
    List<Bytes> parts = new ArrayList<>(4);
    parts.add(bytes(required(key.bufferForRow(), "row of the " + name)));
    ByteBuffer[] rest = {
      key.bufferForFamily(), key.bufferForQualifier(), key.bufferForVisibility()
    };
    for (int i = 0; i < rest.length; i++) {
      if (rest[i] == null) {
        break;
      }
      parts.add(bytes(rest[i]));
    }
    long given =
        List.of(key.isSetFamily(), key.isSetQualifier(), key.isSetVisibility()).stream()
            .filter(Boolean::booleanValue)
            .count();
    if (given != parts.size() - 1 || key.isSetTimestamp() && parts.size() != 4) {
      throw bad("the key of the " + name + " lacks a part before one that it has");
    }
    return new Bound(parts, key.isSetTimestamp() ? (Long) key.getTimestamp() : null, inclusive);
  }

  static @Nullable Durability durability(org.stele.core.thrift.@Nullable Durability durability) {
    if (durability == null) {
      return null;
    }
    return switch (durability) {
      case NONE -> Durability.NONE;
      case LOG -> Durability.LOG;
      case FLUSH -> Durability.FLUSH;
      case SYNC -> Durability.SYNC;
    };
  }

  /** The mutations of a write, each and all together within the limits. */
  static List<Mutation> mutations(WriteRequest request) {
    ByteBuffer packed = request.bufferForPacked();
    List<org.stele.core.thrift.Mutation> plain = request.getMutations();
    if ((packed == null) == (plain == null)) {
      throw bad("a write has either packed or plain mutations");
    }
    if (packed == null) {
      return checkedMutations(required(plain, "mutations"));
    }
    return checked(
        () ->
            PackedMutations.decode(
                packed.array(), packed.arrayOffset() + packed.position(), packed.remaining()));
  }

  /** Plain mutations, each and all together within the limits. */
  static List<Mutation> checkedMutations(List<org.stele.core.thrift.Mutation> plain) {
    return checked(() -> mutations(plain));
  }

  private static List<Mutation> checked(Supplier<List<Mutation>> mutations) {
    try {
      return mutations.get();
    } catch (LimitException e) {
      throw new SteleException(ErrorCode.TOO_LARGE, String.valueOf(e.getMessage()), e);
    } catch (MalformedBytesException | IllegalArgumentException e) {
      throw new SteleException(ErrorCode.BAD_REQUEST, String.valueOf(e.getMessage()), e);
    }
  }

  private static List<Mutation> mutations(List<org.stele.core.thrift.Mutation> plain) {
    List<Mutation> mutations = new ArrayList<>(plain.size());
    long bytes = 0;
    for (org.stele.core.thrift.Mutation each : plain) {
      Mutation mutation = mutation(each);
      bytes = mutation.addedTo(bytes);
      mutations.add(mutation);
    }
    return mutations;
  }

  private static Mutation mutation(org.stele.core.thrift.Mutation plain) {
    Mutation mutation = Mutation.of(bytes(required(plain.bufferForRow(), "row of a mutation")));
    for (org.stele.core.thrift.Update update :
        required(plain.getUpdates(), "updates of a mutation")) {
      mutation.add(
          new Update(
              type(required(update.getType(), "type of an update")),
              bytesOrEmpty(update.bufferForFamily()),
              bytesOrEmpty(update.bufferForQualifier()),
              bytesOrEmpty(update.bufferForVisibility()),
              update.isSetTimestamp() ? (Long) update.getTimestamp() : null,
              bytesOrEmpty(update.bufferForValue())));
    }
    return mutation;
  }

  private static Bytes bytesOrEmpty(@Nullable ByteBuffer buffer) {
    return buffer == null ? Bytes.EMPTY : Bytes.of(buffer);
  }

  private static CellType type(UpdateType type) {
    return switch (type) {
      case PUT -> CellType.PUT;
      case DELETE_COLUMN -> CellType.DELETE_COLUMN;
      case DELETE_FAMILY -> CellType.DELETE_FAMILY;
      case DELETE_ROW -> CellType.DELETE_ROW;
    };
  }

  /** A table name as users may give it. */
  static String tableName(@Nullable String name) {
    String given = required(name, "table name");
    if (!given.matches("[A-Za-z0-9_.-]{1," + DataLimits.MAX_TABLE_NAME_LENGTH + "}")) {
      throw bad(
          "'"
              + shortened(given)
              + "' is no table name: 1 to "
              + DataLimits.MAX_TABLE_NAME_LENGTH
              + " of A-Z a-z 0-9 _ . -");
    }
    return given;
  }

  private static String shortened(String text) {
    return text.length() <= 300 ? text : text.substring(0, 300) + "…";
  }
}
