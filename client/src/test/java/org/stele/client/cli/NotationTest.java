package org.stele.client.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;

class NotationTest {
  @ParameterizedTest
  @EnumSource
  void everyByteComesBack(Notation notation) {
    for (int b = 0; b < 256; b++) {
      Bytes single = Bytes.of(new byte[] {(byte) b});
      assertEquals(single, notation.parse(notation.print(single)));
      Bytes between = Bytes.of(new byte[] {'x', (byte) b, '4', '1'});
      assertEquals(between, notation.parse(notation.print(between)));
    }
  }

  @ParameterizedTest
  @EnumSource
  void randomBytesComeBackInPrintableAscii(Notation notation) {
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      String printed = notation.print(Bytes.of(bytes));
      assertEquals(Bytes.of(bytes), notation.parse(printed));
      assertTrue(printed.chars().allMatch(c -> c >= 0x20 && c < 0x7f), printed);
    }
  }

  @ParameterizedTest
  @EnumSource
  void columnsOfAllBytesComeBack(Notation notation) {
    for (int f = 0; f < 256; f++) {
      Bytes family = Bytes.of(new byte[] {'a', (byte) f, 'b'});
      for (int q : new int[] {0, ':', '\\', 'x', 0xff}) {
        Bytes qualifier = Bytes.of(new byte[] {(byte) q, ':'});
        assertEquals(
            new Column(family, qualifier),
            notation.parseColumn(notation.printColumn(family, qualifier)));
      }
    }
  }

  @Test
  void readsTextAsUtf8AndEscapesInBothCases() {
    assertEquals(Bytes.of("é€"), Notation.ESCAPED.parse("é€"));
    assertEquals(Bytes.of("é"), Notation.ESCAPED.parse("\\xC3\\xa9"));
    assertEquals(Bytes.of("a\\xff"), Notation.ESCAPED.parse("a\\\\xff"));
    assertEquals(Bytes.EMPTY, Notation.ESCAPED.parse(""));
  }

  @Test
  void columnNeedsNoQualifier() {
    assertNull(Notation.ESCAPED.parseColumn("f").qualifier());
    assertEquals(Column.of("f", ""), Notation.ESCAPED.parseColumn("f:"));
    assertEquals(Column.of("", "q:r"), Notation.ESCAPED.parseColumn(":q:r"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\\", "a\\", "\\x", "\\x1", "\\xg1", "\\x1g", "\\n", "\\X41", "\\\\\\", "\\x٣٣"})
  void malformedEscapesAreErrors(String text) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> Notation.ESCAPED.parse(text));
    assertTrue(e.getMessage().contains("malformed escape at character"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "abc", "zz", "0x41", " 41", "4 1"})
  void malformedHexIsAnError(String text) {
    assertThrows(IllegalArgumentException.class, () -> Notation.HEX.parse(text));
  }
}
