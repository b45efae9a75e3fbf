package org.stele.peers.harness;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The {@code key=value} arguments of one run. */
public final class Options {
  private final Map<String, String> values = new HashMap<>();

  public Options(List<String> arguments) {
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("not of the form key=value: " + argument);
      }
      values.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
  }

  public String text(String key, String otherwise) {
    return values.getOrDefault(key, otherwise);
  }

  public int number(String key, int otherwise) {
    String value = values.get(key);
    return value == null ? otherwise : Integer.parseInt(value);
  }

  public double decimal(String key, double otherwise) {
    String value = values.get(key);
    return value == null ? otherwise : Double.parseDouble(value);
  }

  public List<String> words(String key, String otherwise) {
    return List.of(text(key, otherwise).split(","));
  }

  public int[] numbers(String key, String otherwise) {
    return Arrays.stream(text(key, otherwise).split(",")).mapToInt(Integer::parseInt).toArray();
  }
}
