package org.stele.tserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.server.process.StartException;

class AdvertisedAddressTest {
  @Test
  void whatIsSetWins() {
    assertEquals("db1.example:7", AdvertisedAddress.of("db1.example", "0.0.0.0", 7));
    assertEquals("127.0.0.1:7", AdvertisedAddress.of("", "127.0.0.1", 7));
    assertEquals("[::1]:7", AdvertisedAddress.of("", "::1", 7));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::"})
  void aWildcardIsNeverTold(String wildcard) {
    try {
      String told = AdvertisedAddress.of("", wildcard, 7);
      assertTrue(!told.contains("0.0.0.0") && !told.startsWith("[::]"), told);
    } catch (StartException e) {
      assertTrue(e.getMessage().contains("rpc.advertise.address"), e.getMessage());
    }
  }
}
