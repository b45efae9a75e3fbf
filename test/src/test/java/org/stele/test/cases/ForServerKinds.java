package org.stele.test.cases;

import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that are run for the default kind of server, and for all in the long form. */
@ParameterizedClass(name = "{0}")
@MethodSource("org.stele.test.cases.ServerKind#ofThisForm")
abstract class ForServerKinds {
  @Parameter ServerKind kind;

  @BeforeParameterizedClassInvocation
  static void use(ServerKind kind) {
    kind.use();
  }

  @AfterParameterizedClassInvocation
  static void useDefault() {
    ServerKind.useDefault();
  }
}
