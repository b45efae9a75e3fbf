package org.stele.client.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The arguments as the bytes they were. The JVM decodes them by the locale and loses what does not
 * fit; where {@code /proc/self/cmdline} is there, they are read from it as UTF-8, and a byte that
 * is not UTF-8 becomes {@code \xNN}, which means the same byte to every command.
 */
final class RawArguments {
  private RawArguments() {}

  static String[] read(String[] decoded) {
    try {
      return read(decoded, Files.readAllBytes(Path.of("/proc/self/cmdline")));
    } catch (IOException e) {
      return decoded;
    }
  }

  /** The last {@code decoded.length} arguments of a command line whose arguments end in 0. */
  static String[] read(String[] decoded, byte[] commandLine) {
    List<String> all = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < commandLine.length; i++) {
      if (commandLine[i] == 0) {
        all.add(decode(commandLine, start, i));
        start = i + 1;
      }
    }
    if (all.size() < decoded.length) {
      return decoded;
    }
    String[] last = all.subList(all.size() - decoded.length, all.size()).toArray(String[]::new);
    return isSame(decoded, last) ? last : decoded;
  }

  /**
   * Whether these are the arguments that the JVM decoded: those in ASCII it cannot have changed.
   */
  private static boolean isSame(String[] decoded, String[] raw) {
    for (int i = 0; i < decoded.length; i++) {
      boolean ascii = decoded[i].chars().allMatch(c -> c < 0x80);
      if (ascii && !decoded[i].equals(raw[i])) {
        return false;
      }
    }
    return true;
  }

  private static String decode(byte[] bytes, int start, int end) {
    try {
      return decodeUtf8(bytes, start, end - start);
    } catch (CharacterCodingException e) {
      return decodeWithEscapes(bytes, start, end);
    }
  }

  private static String decodeWithEscapes(byte[] bytes, int start, int end) {
    StringBuilder text = new StringBuilder();
    int position = start;
    while (position < end) {
      int length = characterLength(bytes, position, end);
      if (length == 0) {
        text.append("\\x").append(HexFormat.of().toHexDigits(bytes[position]));
        position++;
      } else {
        text.append(new String(bytes, position, length, StandardCharsets.UTF_8));
        position += length;
      }
    }
    return text.toString();
  }

  /** Of the UTF-8 character at {@code position}; 0 if there is none. */
  private static int characterLength(byte[] bytes, int position, int end) {
    for (int length = 1; length <= 4 && position + length <= end; length++) {
      try {
        decodeUtf8(bytes, position, length);
        return length;
      } catch (CharacterCodingException e) {
        // Too short, or not UTF-8 however long.
      }
    }
    return 0;
  }

  private static String decodeUtf8(byte[] bytes, int start, int length)
      throws CharacterCodingException {
    return StandardCharsets.UTF_8
        .newDecoder()
        .decode(ByteBuffer.wrap(bytes, start, length))
        .toString();
  }
}
