package org.stele.core.coordination;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the lock node of a server says.
 *
 * @param address {@code host:port} that clients connect to
 * @param version of the release that runs
 * @param attributes more, by name; a reader passes by names that it does not know
 */
public record ServerRecord(String address, String version, Map<String, String> attributes) {
  private static final String KIND = "server";
  private static final String ADDRESS = "address";
  private static final String VERSION = "version";

  public ServerRecord {
    attributes = Map.copyOf(attributes);
    if (attributes.containsKey(ADDRESS) || attributes.containsKey(VERSION)) {
      throw new IllegalArgumentException("address and version are no attributes");
    }
  }

  byte[] encode() {
    Map<String, String> values = new LinkedHashMap<>(attributes);
    values.put(ADDRESS, address);
    values.put(VERSION, version);
    return NodeText.encode(KIND, values);
  }

  static ServerRecord decode(String path, byte[] bytes) {
    Map<String, String> values = NodeText.decode(KIND, path, bytes);
    String address = NodeText.required(values, ADDRESS, path);
    String version = NodeText.required(values, VERSION, path);
    values.remove(ADDRESS);
    values.remove(VERSION);
    return new ServerRecord(address, version, values);
  }
}
