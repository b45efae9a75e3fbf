package org.stele.peers.harness;

import java.util.Locale;
import java.util.StringJoiner;

/** One result: a flat JSON object on a line of its own, in the order in which it was filled. */
public final class JsonLine {
  private final StringJoiner members = new StringJoiner(",", "{", "}");

  public JsonLine put(String key, String value) {
    members.add(quoted(key) + ":" + quoted(value));
    return this;
  }

  public JsonLine put(String key, long value) {
    members.add(quoted(key) + ":" + value);
    return this;
  }

  public JsonLine put(String key, double value, int decimals) {
    String number = Double.isFinite(value) ? format(value, decimals) : "null";
    members.add(quoted(key) + ":" + number);
    return this;
  }

  public void print() {
    System.out.println(members);
    System.out.flush();
  }

  private static String format(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
