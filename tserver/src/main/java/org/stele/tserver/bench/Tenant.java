package org.stele.tserver.bench;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One of those who share the server of {@code stele bench fairness}.
 *
 * @param address of this machine that its connections come from
 */
record Tenant(String name, int callers, String address) {
  private static final int MOST = 200;

  /** The second of the loopback addresses is the first of these: 127.0.1.1 and so on. */
  private static String address(int number) {
    return "127.0.1." + (number + 1);
  }

  /** So many with one caller each. */
  static List<Tenant> clients(int count) {
    List<Tenant> tenants = new ArrayList<>();
    for (int i = 0; i < BenchOptions.positive("--clients", count, MOST); i++) {
      tenants.add(new Tenant("client-" + (i + 1), 1, address(i)));
    }
    return tenants;
  }

  /**
   * @param text {@code NAME:CALLERS}, each
   */
  static List<Tenant> parse(List<String> text) {
    List<Tenant> tenants = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String one : text) {
      int colon = one.lastIndexOf(':');
      int callers;
      try {
        callers = Integer.parseInt(one.substring(colon + 1));
      } catch (NumberFormatException e) {
        callers = 0;
      }
      if (colon < 1 || callers < 1 || callers > 4096 || !names.add(one.substring(0, colon))) {
        throw new IllegalArgumentException(
            "--tenants " + one + ": NAME:CALLERS with different names and 1 to 4096 callers");
      }
      tenants.add(new Tenant(one.substring(0, colon), callers, address(tenants.size())));
    }
    BenchOptions.positive("--tenants", tenants.size(), MOST);
    return tenants;
  }
}
