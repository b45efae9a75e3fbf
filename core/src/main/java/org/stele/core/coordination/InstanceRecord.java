package org.stele.core.coordination;

import java.util.Map;

/**
 * What node {@code /instance} says.
 *
 * @param id never reused
 * @param format of the instance's stored data; a release refuses a format it does not know
 */
public record InstanceRecord(String id, int format) {
  private static final String KIND = "instance";

  public InstanceRecord {
    if (id.isEmpty()) {
      throw new IllegalArgumentException("the instance id is empty");
    }
  }

  byte[] encode() {
    return NodeText.encode(KIND, Map.of("id", id, "format", Integer.toString(format)));
  }

  static InstanceRecord decode(String path, byte[] bytes) {
    Map<String, String> values = NodeText.decode(KIND, path, bytes);
    String format = NodeText.required(values, "format", path);
    try {
      return new InstanceRecord(NodeText.required(values, "id", path), Integer.parseInt(format));
    } catch (NumberFormatException e) {
      throw NodeText.malformed(path, "has format '" + format + "', which is no number");
    }
  }
}
