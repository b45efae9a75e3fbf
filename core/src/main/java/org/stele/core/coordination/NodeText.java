package org.stele.core.coordination;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import java.util.TreeMap;

/**
 * The text form of small nodes: a first line {@code stele KIND FORMAT}, then lines {@code
 * key=value}. In values {@code \n} stands for a line end and {@code \\} for a backslash. Keys that
 * a reader does not know are kept and passed by; a format above its own it refuses.
 */
final class NodeText {
  private static final int FORMAT = 1;

  private NodeText() {}

  static byte[] encode(String kind, Map<String, String> values) {
    StringBuilder text = new StringBuilder("stele ").append(kind).append(' ').append(FORMAT);
    new TreeMap<>(values)
        .forEach(
            (key, value) -> {
              if (key.isEmpty() || key.indexOf('=') >= 0 || key.indexOf('\n') >= 0) {
                throw new IllegalArgumentException("malformed key " + key + " of node " + kind);
              }
              text.append('\n').append(key).append('=').append(escape(value));
            });
    return NodeSize.checked(kind, text.append('\n').toString().getBytes(UTF_8));
  }

  static Map<String, String> decode(String kind, String path, byte[] bytes) {
    String[] lines = new String(bytes, UTF_8).split("\n", -1);
    String[] head = lines[0].split(" ", -1);
    if (head.length != 3 || !head[0].equals("stele") || !head[1].equals(kind)) {
      throw malformed(path, "does not begin with 'stele " + kind + "'");
    }
    if (!head[2].equals(Integer.toString(FORMAT))) {
      throw malformed(path, "has format " + head[2] + ", this release reads format " + FORMAT);
    }
    Map<String, String> values = new TreeMap<>();
    for (int i = 1; i < lines.length; i++) {
      if (lines[i].isEmpty()) {
        continue;
      }
      int equals = lines[i].indexOf('=');
      if (equals <= 0) {
        throw malformed(path, "has a line without '='");
      }
      values.put(lines[i].substring(0, equals), unescape(lines[i].substring(equals + 1)));
    }
    return values;
  }

  static String required(Map<String, String> values, String key, String path) {
    String value = values.get(key);
    if (value == null) {
      throw malformed(path, "has no " + key);
    }
    return value;
  }

  static CoordinationException malformed(String path, String what) {
    return new CoordinationException(
        CoordinationException.Reason.MALFORMED, "node " + path + " " + what, null);
  }

  private static String escape(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n");
  }

  private static String unescape(String value) {
    StringBuilder text = new StringBuilder(value.length());
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '\\' && i + 1 < value.length()) {
        char next = value.charAt(++i);
        text.append(next == 'n' ? '\n' : next);
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }
}
