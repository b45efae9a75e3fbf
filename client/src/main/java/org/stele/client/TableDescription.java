package org.stele.client;

import java.util.Map;

/**
 * A table.
 *
 * @param id never reused, also when a table of the same name is made again
 * @param settings that were set for it; all others have their defaults
 */
public record TableDescription(String name, String id, Map<String, String> settings) {
  public TableDescription {
    settings = Map.copyOf(settings);
  }
}
