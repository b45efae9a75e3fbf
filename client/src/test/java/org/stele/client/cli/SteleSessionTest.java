package org.stele.client.cli;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.ClientOptions;

class SteleSessionTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "/stele", "127.0.0.1:9641/", "127.0.0.1:9641//stele"})
  void anImpossibleConnectStringIsNamed(String connectString) {
    CommandFailure e =
        assertThrows(
            CommandFailure.class,
            () -> SteleSession.connect(connectString, ClientOptions.defaults()));
    assertTrue(FailureText.of(e).startsWith("'" + connectString + "': "), () -> FailureText.of(e));
  }
}
