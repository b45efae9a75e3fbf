package org.stele.core.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.MalformedBytesException;

/** Reads one JSON text, strictly: no comments, no trailing commas, no repeated names. */
final class JsonReader {
  private static final int MAX_DEPTH = 64;
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  private final String text;
  private int position;
  private int depth;

  JsonReader(String text) {
    this.text = text;
  }

  @Nullable Object readAll() {
    Object value = readValue();
    skipBlanks();
    if (position < text.length()) {
      throw malformed("something after the end of the value");
    }
    return value;
  }

  private @Nullable Object readValue() {
    skipBlanks();
    return switch (peek()) {
      case '{' -> readObject();
      case '[' -> readArray();
      case '"' -> readString();
      case 't' -> {
        skipWord("true");
        yield true;
      }
      case 'f' -> {
        skipWord("false");
        yield false;
      }
      case 'n' -> {
        skipWord("null");
        yield null;
      }
      default -> readNumber();
    };
  }

  private Map<String, @Nullable Object> readObject() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    enter();
    if (!endsWith('}')) {
      do {
        skipBlanks();
        int at = position;
        String name = readString();
        if (object.containsKey(name)) {
          throw new MalformedBytesException("the name \"" + name + "\" twice, at offset " + at);
        }
        skipBlanks();
        expect(':');
        object.put(name, readValue());
      } while (another('}'));
    }
    depth--;
    return object;
  }

  private List<@Nullable Object> readArray() {
    List<@Nullable Object> array = new ArrayList<>();
    enter();
    if (!endsWith(']')) {
      do {
        array.add(readValue());
      } while (another(']'));
    }
    depth--;
    return array;
  }

  /** Passes the opening bracket. */
  private void enter() {
    if (++depth > MAX_DEPTH) {
      throw malformed("nested deeper than " + MAX_DEPTH);
    }
    position++;
  }

  private boolean endsWith(char bracket) {
    skipBlanks();
    if (peek() != bracket) {
      return false;
    }
    position++;
    return true;
  }

  /** Whether a comma follows, and not the closing bracket. */
  private boolean another(char bracket) {
    if (endsWith(bracket)) {
      return false;
    }
    expect(',');
    return true;
  }

  private String readString() {
    expect('"');
    StringBuilder string = new StringBuilder();
    while (true) {
      char c = next();
      if (c == '"') {
        return string.toString();
      } else if (c == '\\') {
        string.append(readEscape());
      } else if (c < 0x20) {
        throw malformed("a control character in a string");
      } else {
        string.append(c);
      }
    }
  }

  private char readEscape() {
    char c = next();
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> readCodeUnit();
      default -> throw malformed("an unknown escape");
    };
  }

  private char readCodeUnit() {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(next(), 16);
      if (digit < 0) {
        throw malformed("a \\u escape without four hex digits");
      }
      unit = unit * 16 + digit;
    }
    return (char) unit;
  }

  private void skipWord(String word) {
    if (!text.startsWith(word, position)) {
      throw malformed("no JSON value");
    }
    position += word.length();
  }

  private Number readNumber() {
    Matcher matcher = NUMBER.matcher(text).region(position, text.length());
    if (!matcher.lookingAt()) {
      throw malformed("no JSON value");
    }
    position = matcher.end();
    boolean whole = matcher.group(2) == null && matcher.group(3) == null;
    if (!whole) {
      return Double.valueOf(matcher.group());
    }
    try {
      return Long.valueOf(matcher.group());
    } catch (NumberFormatException e) {
      return Double.valueOf(matcher.group());
    }
  }

  private void skipBlanks() {
    while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
      position++;
    }
  }

  private void expect(char c) {
    if (peek() != c) {
      throw malformed("'" + c + "' is missing");
    }
    position++;
  }

  private char next() {
    char c = peek();
    position++;
    return c;
  }

  private char peek() {
    if (position >= text.length()) {
      throw malformed("the text ends early");
    }
    return text.charAt(position);
  }

  private MalformedBytesException malformed(String what) {
    return new MalformedBytesException(what + " at offset " + position);
  }
}
