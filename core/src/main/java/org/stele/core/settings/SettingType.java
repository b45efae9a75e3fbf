package org.stele.core.settings;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the text of a setting is read. Nothing is repaired: what is not exactly right is refused with
 * the name, the text and the rule.
 *
 * @param rule what is allowed, for the reference and for error messages
 */
public record SettingType<T>(String rule, Function<String, T> parser) {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,15})(ms|s|m|h|d)");
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})(B|K|M|G)");

  /**
   * Reads a text.
   *
   * @throws SettingException naming the setting, the text and the rule
   */
  public T parse(String name, String text) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new SettingException(name + " = '" + text + "' is not allowed: it must be " + rule);
    }
  }

  public static SettingType<Integer> integer(int min, int max) {
    return new SettingType<>(
        "a whole number from " + min + " to " + max,
        text -> (int) inRange(Long.parseLong(plain(text)), min, max));
  }

  public static SettingType<Boolean> bool() {
    return new SettingType<>(
        "true or false",
        text ->
            switch (text) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException(text);
            });
  }

  public static SettingType<Duration> duration(Duration min, Duration max) {
    return new SettingType<>(
        "a duration from " + format(min) + " to " + format(max) + ", such as 500ms, 5s, 2m, 1h",
        text -> {
          Matcher matcher = matcher(DURATION, text);
          long factor = unitMillis(matcher.group(2));
          long millis = Math.multiplyExact(Long.parseLong(matcher.group(1)), factor);
          return Duration.ofMillis(inRange(millis, min.toMillis(), max.toMillis()));
        });
  }

  /** A number of bytes. */
  public static SettingType<Long> size(long min, long max) {
    return new SettingType<>(
        "a size from "
            + formatSize(min)
            + " to "
            + formatSize(max)
            + ", such as 512B, 64K, 32M, 2G",
        text -> {
          Matcher matcher = matcher(SIZE, text);
          long factor = unitBytes(matcher.group(2));
          return inRange(Math.multiplyExact(Long.parseLong(matcher.group(1)), factor), min, max);
        });
  }

  public static SettingType<String> text(String rule, Pattern pattern) {
    return new SettingType<>(
        rule,
        text -> {
          matcher(pattern, text);
          return text;
        });
  }

  /** One of the constants, written in lower case. */
  public static <E extends Enum<E>> SettingType<E> oneOf(Class<E> type) {
    return new SettingType<>(
        "one of "
            + String.join(
                ", ", Arrays.stream(type.getEnumConstants()).map(SettingType::lower).toList()),
        text ->
            Arrays.stream(type.getEnumConstants())
                .filter(constant -> lower(constant).equals(text))
                .findFirst()
                .orElseThrow(IllegalArgumentException::new));
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static Matcher matcher(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(text);
    }
    return matcher;
  }

  private static String plain(String text) {
    if (!text.matches("-?\\d{1,18}")) {
      throw new IllegalArgumentException(text);
    }
    return text;
  }

  private static long inRange(long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(value + " is not within " + min + " and " + max);
    }
    return value;
  }

  private static long unitMillis(String unit) {
    return switch (unit) {
      case "ms" -> 1;
      case "s" -> 1000;
      case "m" -> 60_000;
      case "h" -> 3_600_000;
      case "d" -> 86_400_000;
      default -> throw new IllegalArgumentException(unit);
    };
  }

  private static long unitBytes(String unit) {
    return switch (unit) {
      case "B" -> 1;
      case "K" -> 1 << 10;
      case "M" -> 1 << 20;
      case "G" -> 1 << 30;
      default -> throw new IllegalArgumentException(unit);
    };
  }

  private static String format(Duration duration) {
    long millis = duration.toMillis();
    for (String unit : new String[] {"d", "h", "m", "s"}) {
      long factor = unitMillis(unit);
      if (millis >= factor && millis % factor == 0) {
        return millis / factor + unit;
      }
    }
    return millis + "ms";
  }

  private static String formatSize(long bytes) {
    for (String unit : new String[] {"G", "M", "K"}) {
      long factor = unitBytes(unit);
      if (bytes >= factor && bytes % factor == 0) {
        return bytes / factor + unit;
      }
    }
    return bytes + "B";
  }
}
