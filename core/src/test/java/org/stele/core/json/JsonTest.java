package org.stele.core.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.MalformedBytesException;

class JsonTest {
  @Test
  void writesInTheOrderOfTheMap() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("pid", 7);
    object.put("ready", true);
    object.put("address", "127.0.0.1:9640");
    object.put("http", null);
    object.put("rate", 1.5);
    object.put("list", List.of(1L, "a"));
    assertEquals(
        "{\"pid\":7,\"ready\":true,\"address\":\"127.0.0.1:9640\",\"http\":null,\"rate\":1.5,\"list\":[1,\"a\"]}",
        Json.write(object));
  }

  @Test
  void everyCharacterComesBackAndIsWrittenInAscii() {
    for (int c = 0; c <= 0xffff; c++) {
      String text = "x" + (char) c + "y";
      String json = Json.write(text);
      assertTrue(json.chars().allMatch(unit -> unit >= 0x20 && unit < 0x7f), json);
      assertEquals(text, Json.parse(json));
    }
  }

  @Test
  void whatIsWrittenIsReadAgain() {
    List<Object> array =
        new ArrayList<>(List.of("", 0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, 1e300, 0.25, false));
    array.add(null);
    Map<String, Object> object = Map.of("a", array, "b", Map.of("c", List.of()));
    assertEquals(object, Json.parseObject(Json.write(object)));
    assertEquals(
        object, Json.parseObject(" \n" + Json.write(object).replace(",", " ,\t") + "\r\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "{a:1}",
        "01",
        "1.",
        "+1",
        ".5",
        "nul",
        "tru",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"a",
        "1 2",
        "NaN",
        "'a'",
        "//\n1",
        "[1 2]",
        "{\"a\" 1}"
      })
  void refusesWhatIsNotJson(String text) {
    assertThrows(MalformedBytesException.class, () -> Json.parse(text));
  }

  @Test
  void refusesDeepNestingAndOtherTypes() {
    assertThrows(MalformedBytesException.class, () -> Json.parse("[".repeat(100_000)));
    assertThrows(MalformedBytesException.class, () -> Json.parseObject("[]"));
    assertThrows(IllegalArgumentException.class, () -> Json.write(Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> Json.write(new Object()));
  }
}
