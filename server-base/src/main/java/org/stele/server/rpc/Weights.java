package org.stele.server.rpc;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * The weights of principals (setting {@code rpc.tenant.weights}): how much of the workers' time
 * each gets when all want more. Immutable.
 */
final class Weights {
  private static final double DEFAULT = 1;

  private final Map<String, Double> byName = new HashMap<>();

  /**
   * @param setting {@code NAME=WEIGHT}, with commas between; a name is a tenant or an address
   */
  Weights(String setting) {
    for (String entry : setting.split(",")) {
      int equals = entry.lastIndexOf('=');
      if (equals > 0) {
        byName.put(
            entry.substring(0, equals).strip(),
            Double.valueOf(entry.substring(equals + 1).strip()));
      }
    }
  }

  /** Of a principal: a tenant's name or an {@link InetAddress}. */
  double of(Object principal) {
    String name =
        principal instanceof InetAddress address ? address.getHostAddress() : principal.toString();
    return byName.getOrDefault(name, DEFAULT);
  }
}
