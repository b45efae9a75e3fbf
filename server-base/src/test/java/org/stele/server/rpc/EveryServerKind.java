package org.stele.server.rpc;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A test class that is run for each kind of server. */
@ParameterizedClass(name = "{0}")
@EnumSource(ServerKind.class)
abstract class EveryServerKind {
  @Parameter ServerKind kind;

  @BeforeEach
  void useKind() {
    EndpointFixture.kind = kind;
  }

  @AfterAll
  static void useDefaultKind() {
    EndpointFixture.kind = ServerKind.THREADED_SELECTOR;
  }
}
