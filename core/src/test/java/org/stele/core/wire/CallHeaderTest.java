package org.stele.core.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.WriterStamp;

class CallHeaderTest {
  private static CallHeader full() {
    return new CallHeader()
        .reset(-2, 0x1234)
        .setHello(1, 0xffff, 1L << 63, "instance-ü")
        .setDeadline(11, -12)
        .setRetry(0xffff_ffffL, 0xffff)
        .setWriter(new WriterStamp(13, 14, 15))
        .setTenant("tenant-ä")
        .setCredential(new byte[] {1, 2, 3})
        .setTrace(16, 17);
  }

  private static byte[] bytes(CallHeader header) {
    ByteWriter out = new ByteWriter(0);
    header.encode(out);
    return out.toByteArray();
  }

  @Test
  void everyFieldTravels() {
    byte[] bytes = bytes(full());
    byte[] shifted = new byte[bytes.length + 10];
    System.arraycopy(bytes, 0, shifted, 3, bytes.length);

    CallHeader header = new CallHeader();
    assertEquals(bytes.length, header.decode(shifted, 3, bytes.length + 7));
    assertEquals(-2, header.callId());
    assertEquals(0x1234, header.clientId());
    assertEquals(1, header.lowestVersion());
    assertEquals(0xffff, header.highestVersion());
    assertEquals(1L << 63, header.requiredFeatures());
    assertEquals("instance-ü", header.instanceId());
    assertEquals(11, header.bootId());
    assertEquals(-12, header.deadlineNanos());
    assertEquals(0xffff_ffffL, header.sinceFirstAttemptMillis());
    assertEquals(0xffff, header.attempt());
    assertEquals(new WriterStamp(13, 14, 15), header.writer());
    assertEquals("tenant-ä", header.tenant());
    assertArrayEquals(new byte[] {1, 2, 3}, header.credential());
    assertEquals(16, header.traceIdHigh());
    assertEquals(17, header.traceIdLow());
  }

  @Test
  void aReusedHeaderForgetsTheOneBefore() {
    CallHeader header = new CallHeader();
    byte[] first = bytes(full());
    header.decode(first, 0, first.length);
    String tenant = header.tenant();
    byte[] second = bytes(new CallHeader().reset(5, 6));
    header.decode(second, 0, second.length);

    assertFalse(header.has(CallHeader.DEADLINE));
    assertEquals(1, header.attempt());
    assertEquals(0, header.sinceFirstAttemptMillis());
    assertEquals(WriterStamp.NONE, header.writer());
    assertEquals("", header.tenant());
    assertEquals(0, header.credential().length);
    assertEquals(0, header.traceIdLow());

    header.decode(first, 0, first.length);
    assertSame(tenant, header.tenant(), "the tenant's text is made once");
  }

  @Test
  void everyCutIsRefused() {
    byte[] bytes = bytes(full());
    for (int length = 0; length < bytes.length; length++) {
      int cut = length;
      assertThrows(
          MalformedBytesException.class, () -> new CallHeader().decode(bytes, 0, cut), "" + cut);
    }
  }

  @Test
  void aShortSizeDoesNotReadTheMessage() {
    byte[] bytes = bytes(full());
    for (int size = 0; size < bytes.length - 4; size++) {
      byte[] lying = bytes.clone();
      lying[2] = (byte) (size >>> 8);
      lying[3] = (byte) size;
      assertThrows(
          MalformedBytesException.class,
          () -> new CallHeader().decode(lying, 0, lying.length),
          "" + size);
    }
  }

  @Test
  void bytesBehindTheFieldsAreSkipped() {
    byte[] bytes = bytes(full());
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 5);
    int size = bytes.length - 4 + 5;
    longer[2] = (byte) (size >>> 8);
    longer[3] = (byte) size;
    CallHeader header = new CallHeader();
    assertEquals(longer.length, header.decode(longer, 0, longer.length));
    assertEquals(17, header.traceIdLow());
  }

  @Test
  void unknownFlagsAndVersionsAreRefused() {
    byte[] flags = bytes(new CallHeader().reset(77, 2));
    flags[4] = (byte) 0x80;
    CallHeader header = new CallHeader();
    MalformedBytesException e =
        assertThrows(MalformedBytesException.class, () -> header.decode(flags, 0, flags.length));
    assertTrue(e.getMessage().contains("8000"), e.getMessage());
    assertEquals(77, header.callId(), "the refusal names the call");

    byte[] version = bytes(new CallHeader().reset(77, 2));
    version[1] = 2;
    e =
        assertThrows(
            MalformedBytesException.class, () -> header.decode(version, 0, version.length));
    assertTrue(e.getMessage().contains("version 2"), e.getMessage());
  }

  @Test
  void randomBytesNeverDoMoreThanThrow() {
    Random random = new Random(1);
    CallHeader header = new CallHeader();
    ReplyHeader reply = new ReplyHeader();
    for (int i = 0; i < 100_000; i++) {
      byte[] bytes = new byte[random.nextInt(80)];
      random.nextBytes(bytes);
      if (bytes.length > 5) {
        bytes[0] = (byte) CallHeader.MAGIC;
        bytes[1] = CallHeader.VERSION;
        bytes[2] = 0;
        bytes[4] = 0;
        bytes[5] &= 0x7f;
      }
      try {
        assertTrue(header.decode(bytes, 0, bytes.length) <= bytes.length);
      } catch (MalformedBytesException e) {
        assertFalse(e.getMessage().isEmpty());
      }
      try {
        assertTrue(reply.decode(bytes, 0, bytes.length) <= bytes.length);
      } catch (MalformedBytesException e) {
        assertFalse(e.getMessage().isEmpty());
      }
    }
  }

  @Test
  void tooLongTextsAreRefusedByTheWriter() {
    assertThrows(IllegalArgumentException.class, () -> new CallHeader().setTenant("x".repeat(256)));
    assertThrows(
        IllegalArgumentException.class, () -> new CallHeader().setCredential(new byte[0xffff]));
  }
}
