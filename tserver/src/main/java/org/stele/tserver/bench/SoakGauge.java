package org.stele.tserver.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that a server holds, before a soak and after it.
 *
 * @param slack by how much the end may exceed the base
 */
record SoakGauge(String name, long base, long end, long slack) {
  boolean isBack() {
    return end <= base + slack;
  }

  /** What is wrong, in a line. */
  String leak() {
    return "the server keeps "
        + end
        + " "
        + name
        + ", before the load it had "
        + base
        + (slack == 0 ? "" : " (" + slack + " more are allowed)");
  }

  Map<String, @Nullable Object> toJson() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("gauge", name);
    object.put("base", base);
    object.put("end", end);
    object.put("slack", slack);
    return object;
  }
}
