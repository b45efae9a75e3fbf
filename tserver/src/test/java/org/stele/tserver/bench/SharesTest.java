package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class SharesTest {
  @Test
  void evenSharesAreOne() {
    Shares shares = new Shares(List.of(7L, 7L, 7L));
    assertEquals(21, shares.total());
    assertEquals(1, shares.minMaxRatio());
    assertEquals(1, shares.jain(), 1e-12);
  }

  @Test
  void unevenSharesAreLess() {
    Shares shares = new Shares(List.of(0L, 10L, 0L, 0L));
    assertEquals(0, shares.minMaxRatio());
    assertEquals(0.25, shares.jain(), 1e-12);
    assertEquals(0.5, new Shares(List.of(10L, 20L)).minMaxRatio());
    assertEquals(0, new Shares(List.of(0L, 0L)).jain());
    assertEquals(0, new Shares(List.of()).minMaxRatio());
  }

  @Test
  void jsonHasLeastMedianAndMost() {
    var json = new Shares(List.of(5L, 1L, 3L)).toJson();
    assertEquals(List.of(5L, 1L, 3L), json.get("successes"));
    assertEquals(1L, json.get("min"));
    assertEquals(3L, json.get("median"));
    assertEquals(5L, json.get("max"));
    assertEquals(0.2, json.get("min_max_ratio"));
  }

  @Test
  void tenantsHaveAddressesOfTheirOwn() {
    assertEquals(
        List.of(new Tenant("heavy", 64, "127.0.1.1"), new Tenant("light", 1, "127.0.1.2")),
        Tenant.parse(List.of("heavy:64", "light:1")));
    assertEquals(18, Tenant.clients(18).stream().map(Tenant::address).distinct().count());
    for (String wrong : List.of("heavy", "heavy:", ":3", "heavy:0", "heavy:x")) {
      assertThrows(IllegalArgumentException.class, () -> Tenant.parse(List.of(wrong)), wrong);
    }
    assertThrows(IllegalArgumentException.class, () -> Tenant.parse(List.of("a:1", "a:2")));
    assertThrows(IllegalArgumentException.class, () -> Tenant.clients(0));
  }
}
