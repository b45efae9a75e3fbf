package org.stele.client.cli.data;

import java.lang.Character.UnicodeBlock;
import java.lang.Character.UnicodeScript;
import java.util.HexFormat;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Mutation;

/**
 * The Unicode characters as this JVM knows them: a real data set that is always there. A row for
 * each assigned code point without private use and surrogates; its key is the code point as six hex
 * digits, so that rows are in order of code points.
 */
final class UnicodeSample {
  static final String FAMILY = "f";

  private static final String[] CATEGORIES = new String[Character.FINAL_QUOTE_PUNCTUATION + 1];

  static {
    put(Character.UNASSIGNED, "Cn");
    put(Character.UPPERCASE_LETTER, "Lu");
    put(Character.LOWERCASE_LETTER, "Ll");
    put(Character.TITLECASE_LETTER, "Lt");
    put(Character.MODIFIER_LETTER, "Lm");
    put(Character.OTHER_LETTER, "Lo");
    put(Character.NON_SPACING_MARK, "Mn");
    put(Character.ENCLOSING_MARK, "Me");
    put(Character.COMBINING_SPACING_MARK, "Mc");
    put(Character.DECIMAL_DIGIT_NUMBER, "Nd");
    put(Character.LETTER_NUMBER, "Nl");
    put(Character.OTHER_NUMBER, "No");
    put(Character.SPACE_SEPARATOR, "Zs");
    put(Character.LINE_SEPARATOR, "Zl");
    put(Character.PARAGRAPH_SEPARATOR, "Zp");
    put(Character.CONTROL, "Cc");
    put(Character.FORMAT, "Cf");
    put(Character.PRIVATE_USE, "Co");
    put(Character.SURROGATE, "Cs");
    put(Character.DASH_PUNCTUATION, "Pd");
    put(Character.START_PUNCTUATION, "Ps");
    put(Character.END_PUNCTUATION, "Pe");
    put(Character.CONNECTOR_PUNCTUATION, "Pc");
    put(Character.OTHER_PUNCTUATION, "Po");
    put(Character.MATH_SYMBOL, "Sm");
    put(Character.CURRENCY_SYMBOL, "Sc");
    put(Character.MODIFIER_SYMBOL, "Sk");
    put(Character.OTHER_SYMBOL, "So");
    put(Character.INITIAL_QUOTE_PUNCTUATION, "Pi");
    put(Character.FINAL_QUOTE_PUNCTUATION, "Pf");
  }

  private UnicodeSample() {}

  private static void put(byte type, String category) {
    CATEGORIES[type] = category;
  }

  /** All code points of the sample, in order. */
  static IntStream codePoints() {
    return IntStream.rangeClosed(Character.MIN_CODE_POINT, Character.MAX_CODE_POINT)
        .filter(UnicodeSample::isIn);
  }

  private static boolean isIn(int codePoint) {
    int type = Character.getType(codePoint);
    return type != Character.UNASSIGNED
        && type != Character.PRIVATE_USE
        && type != Character.SURROGATE;
  }

  static String key(int codePoint) {
    return HexFormat.of().withUpperCase().toHexDigits(codePoint, 6);
  }

  /** The row of a code point: what is known of it, without properties that say no. */
  static Mutation row(int codePoint) {
    Mutation row = Mutation.of(key(codePoint));
    put(row, "name", Character.getName(codePoint));
    put(row, "category", CATEGORIES[Character.getType(codePoint)]);
    put(row, "script", UnicodeScript.of(codePoint).name());
    UnicodeBlock block = UnicodeBlock.of(codePoint);
    put(row, "block", block == null ? null : block.toString());
    put(row, "char", Character.toString(codePoint));
    put(row, "uppercase", other(codePoint, Character.toUpperCase(codePoint)));
    put(row, "lowercase", other(codePoint, Character.toLowerCase(codePoint)));
    put(row, "titlecase", other(codePoint, Character.toTitleCase(codePoint)));
    put(row, "number", number(codePoint));
    put(row, "mirrored", yes(Character.isMirrored(codePoint)));
    put(row, "alphabetic", yes(Character.isAlphabetic(codePoint)));
    put(row, "ideographic", yes(Character.isIdeographic(codePoint)));
    return row;
  }

  private static void put(Mutation row, String qualifier, @Nullable String value) {
    if (value != null) {
      row.put(FAMILY, qualifier, value);
    }
  }

  private static @Nullable String other(int codePoint, int mapped) {
    return mapped == codePoint ? null : key(mapped);
  }

  /** The value of a digit or number; null if there is none, or it is a fraction. */
  @SuppressWarnings("CharacterGetNumericValue") // letters, which it takes for digits, are left out
  private static @Nullable String number(int codePoint) {
    boolean isNumber = CATEGORIES[Character.getType(codePoint)].startsWith("N");
    int number = isNumber ? Character.getNumericValue(codePoint) : -1;
    return number < 0 ? null : Integer.toString(number);
  }

  private static @Nullable String yes(boolean property) {
    return property ? "yes" : null;
  }
}
