package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;

/** How bytes are written as text in arguments, files and output; what is printed can be read. */
public enum Notation {
  /**
   * Text as UTF-8, with {@code \xNN} for any byte and {@code \\} for a backslash. Printed is ASCII
   * only: what is not printable there is escaped.
   */
  ESCAPED {
    @Override
    public Bytes parse(String text) {
      if (text.indexOf('\\') < 0) {
        return Bytes.of(text);
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
      int position = 0;
      while (position < text.length()) {
        int escape = text.indexOf('\\', position);
        int end = escape < 0 ? text.length() : escape;
        bytes.writeBytes(text.substring(position, end).getBytes(UTF_8));
        position = escape < 0 ? end : appendEscape(bytes, text, escape);
      }
      return Bytes.wrap(bytes.toByteArray());
    }

    @Override
    public String print(Bytes bytes) {
      return bytes.toString();
    }

    @Override
    String printFamily(Bytes family) {
      return family.toString().replace(":", "\\x3a");
    }
  },

  /** Two hex digits for each byte. */
  HEX {
    @Override
    public Bytes parse(String text) {
      try {
        return Bytes.wrap(HexFormat.of().parseHex(text));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "'" + text + "' is not hex: it needs an even number of the digits 0-9 a-f", e);
      }
    }

    @Override
    public String print(Bytes bytes) {
      return bytes.toHex();
    }

    @Override
    String printFamily(Bytes family) {
      return family.toHex();
    }
  };

  /**
   * Reads bytes.
   *
   * @throws IllegalArgumentException saying what is malformed and where
   */
  public abstract Bytes parse(String text);

  public abstract String print(Bytes bytes);

  /** As {@link #print}, without a colon. */
  abstract String printFamily(Bytes family);

  /**
   * Reads {@code FAMILY:QUALIFIER}, or {@code FAMILY} alone for the whole family. The first colon
   * separates; a colon in the family is written {@code \x3a}.
   */
  public Column parseColumn(String text) {
    int colon = text.indexOf(':');
    return colon < 0
        ? new Column(parse(text), null)
        : new Column(parse(text.substring(0, colon)), parse(text.substring(colon + 1)));
  }

  /** {@code FAMILY:QUALIFIER}, so that {@link #parseColumn} reads it again. */
  public String printColumn(Bytes family, Bytes qualifier) {
    return printFamily(family) + ":" + print(qualifier);
  }

  /** Appends the byte that the escape at {@code position} stands for; returns where it ends. */
  private static int appendEscape(ByteArrayOutputStream bytes, String text, int position) {
    if (text.startsWith("\\\\", position)) {
      bytes.write('\\');
      return position + 2;
    }
    int end = position + 4;
    if (text.startsWith("\\x", position) && end <= text.length()) {
      int high = Character.digit(text.charAt(position + 2), 16);
      int low = Character.digit(text.charAt(position + 3), 16);
      if (high >= 0
          && low >= 0
          && text.charAt(position + 2) < 128
          && text.charAt(position + 3) < 128) {
        bytes.write(high << 4 | low);
        return end;
      }
    }
    throw new IllegalArgumentException(
        "'"
            + text
            + "' has a malformed escape at character "
            + (position + 1)
            + ": \\\\ stands for a backslash and \\xNN for a byte");
  }
}
