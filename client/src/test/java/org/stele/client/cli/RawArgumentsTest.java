package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;

class RawArgumentsTest {
  @Test
  void takesTheLastArgumentsAsUtf8() {
    byte[] commandLine = "java\0-cp\0x\0Main\0put\0é€😀\0\0".getBytes(UTF_8);
    assertArrayEquals(
        new String[] {"put", "é€😀", ""},
        RawArguments.read(new String[] {"put", "\uFFFD", ""}, commandLine));
  }

  @Test
  void whatIsNotUtf8BecomesEscapes() {
    for (int b = 1; b < 256; b++) {
      byte[] raw = {'a', (byte) b, (byte) 0xc3, (byte) 0xa9};
      ByteArrayOutputStream commandLine = new ByteArrayOutputStream();
      commandLine.writeBytes("java\0".getBytes(ISO_8859_1));
      commandLine.writeBytes(raw);
      commandLine.write(0);
      String text = RawArguments.read(new String[] {"\uFFFD"}, commandLine.toByteArray())[0];
      if (b != '\\') {
        assertEquals(Bytes.of(raw), Notation.ESCAPED.parse(text));
      }
    }
  }

  @Test
  void withoutCommandLineTheJvmsArgumentsRemain() {
    String[] decoded = {"a", "b"};
    assertArrayEquals(decoded, RawArguments.read(decoded, new byte[0]));
    assertArrayEquals(decoded, RawArguments.read(decoded, "x\0y\0z\0".getBytes(UTF_8)));
    assertArrayEquals(decoded, RawArguments.read(decoded));
  }
}
