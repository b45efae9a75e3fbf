package org.stele.core.json;

import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.MalformedBytesException;

/**
 * JSON (RFC 8259) as text on one line, made from and read into maps, lists, strings, whole numbers
 * ({@link Long}), other numbers ({@link Double}), booleans and null.
 *
 * <p>What is written is ASCII: everything else is a {@code \}{@code u} escape, so that it survives
 * whatever locale it passes through, lone surrogates included.
 */
public final class Json {
  private Json() {}

  /**
   * Writes a value.
   *
   * @throws IllegalArgumentException if it holds another type, or a number that is not finite
   */
  public static String write(@Nullable Object value) {
    StringBuilder out = new StringBuilder();
    append(out, value);
    return out.toString();
  }

  /**
   * Reads one value and nothing after it.
   *
   * @throws MalformedBytesException naming what is wrong and the offset
   */
  public static @Nullable Object parse(String text) {
    return new JsonReader(text).readAll();
  }

  /**
   * Reads one object.
   *
   * @throws MalformedBytesException naming what is wrong and the offset
   */
  @SuppressWarnings("unchecked") // the reader makes no other maps
  public static Map<String, @Nullable Object> parseObject(String text) {
    if (parse(text) instanceof Map<?, ?> object) {
      return (Map<String, @Nullable Object>) object;
    }
    throw new MalformedBytesException("not a JSON object");
  }

  private static void append(StringBuilder out, @Nullable Object value) {
    if (value instanceof String text) {
      appendString(out, text);
    } else if (value instanceof Map<?, ?> map) {
      appendObject(out, map);
    } else if (value instanceof Iterable<?> items) {
      appendArray(out, items);
    } else if (value instanceof Double number) {
      if (!Double.isFinite(number)) {
        throw new IllegalArgumentException(number + " is not a JSON number");
      }
      out.append(number.doubleValue());
    } else if (value == null || value instanceof Boolean || isWhole(value)) {
      out.append(value);
    } else {
      throw new IllegalArgumentException(value.getClass() + " has no JSON form");
    }
  }

  private static boolean isWhole(Object value) {
    return value instanceof Long || value instanceof Integer;
  }

  private static void appendObject(StringBuilder out, Map<?, ?> map) {
    out.append('{');
    String separator = "";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      out.append(separator);
      appendString(out, (String) entry.getKey());
      out.append(':');
      append(out, entry.getValue());
      separator = ",";
    }
    out.append('}');
  }

  private static void appendArray(StringBuilder out, Iterable<?> items) {
    out.append('[');
    String separator = "";
    for (Object item : items) {
      out.append(separator);
      append(out, item);
      separator = ",";
    }
    out.append(']');
  }

  private static void appendString(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\t' -> out.append("\\t");
        case '\r' -> out.append("\\r");
        default -> {
          if (c >= 0x20 && c < 0x7f) {
            out.append(c);
          } else {
            out.append("\\u").append(HexFormat.of().toHexDigits(c));
          }
        }
      }
    }
    out.append('"');
  }
}
