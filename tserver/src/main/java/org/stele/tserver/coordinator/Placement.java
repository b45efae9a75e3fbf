package org.stele.tserver.coordinator;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/** Chooses servers for tablets: always the one that has fewest. One thread. */
final class Placement {
  private final Map<String, String> servers;
  private final Map<String, Integer> load;

  /**
   * @param servers addresses by session; at least one
   * @param load tablets by session
   */
  Placement(Map<String, String> servers, Map<String, Integer> load) {
    this.servers = servers;
    this.load = new HashMap<>(load);
  }

  /** A session, which then has one tablet more. */
  String next() {
    String session =
        servers.keySet().stream()
            .min(
                Comparator.comparingInt((String each) -> load.getOrDefault(each, 0))
                    .thenComparing(Comparator.naturalOrder()))
            .orElseThrow();
    load.merge(session, 1, Integer::sum);
    return session;
  }

  String address(String session) {
    String address = servers.get(session);
    if (address == null) {
      throw new IllegalArgumentException("no server has session " + session);
    }
    return address;
  }
}
