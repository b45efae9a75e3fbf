package org.stele.core.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.SteleError;

class SteleErrorsTest {
  @Test
  void codesAreThoseOfTheIdl() {
    Map<String, Integer> ours =
        Arrays.stream(ErrorCode.values())
            .collect(Collectors.toMap(ErrorCode::name, ErrorCode::number));
    Map<String, Integer> idl =
        Arrays.stream(org.stele.core.thrift.ErrorCode.values())
            .collect(
                Collectors.toMap(
                    org.stele.core.thrift.ErrorCode::name,
                    org.stele.core.thrift.ErrorCode::getValue));
    assertEquals(idl, ours);
  }

  @ParameterizedTest
  @EnumSource
  void everyCodeTravels(ErrorCode code) {
    SteleException sent = new SteleException(code, "why", null, 0, null, 0);
    SteleException received = SteleErrors.fromThrift(SteleErrors.toThrift(sent));
    assertEquals(code, received.code());
    assertEquals("why", received.getMessage());
    assertEquals(code, SteleErrors.fromNumber(code.number()));
  }

  @Test
  void detailsTravel() {
    SteleException busy =
        SteleErrors.fromThrift(SteleErrors.toThrift(SteleException.busy("full", 35)));
    assertEquals(35, busy.retryAfterMillis());

    SteleException corrupt =
        SteleErrors.fromThrift(
            SteleErrors.toThrift(
                SteleException.corrupt("bad", new IllegalStateException(), "a/b.sf", 1L << 40)));
    assertEquals("a/b.sf", corrupt.file());
    assertEquals(1L << 40, corrupt.offset());
    assertFalse(
        SteleErrors.toThrift(new SteleException(ErrorCode.DENIED, "no")).isSetRetryAfterMs());
  }

  @Test
  void unknownCodesAreInternal() {
    assertEquals(ErrorCode.INTERNAL, SteleErrors.fromThrift(new SteleError()).code());
    for (int number : new int[] {-1, 0, 15, 255, Integer.MAX_VALUE}) {
      assertEquals(ErrorCode.INTERNAL, SteleErrors.fromNumber(number));
    }
  }
}
