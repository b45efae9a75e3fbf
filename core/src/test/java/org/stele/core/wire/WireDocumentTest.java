package org.stele.core.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.stele.core.data.ByteWriter;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.ServerService;

/** The worked example of docs/formats/wire.md is what the code writes and reads. */
class WireDocumentTest {
  private static final Path DOCUMENT =
      Path.of(System.getProperty("basedir", ""))
          .toAbsolutePath()
          .resolveSibling("docs/formats/wire.md");
  private static final long CLIENT = 0x0102030405060708L;
  private static final long BOOT = 0xb0;
  private static final long NANOS = 1_000_000_000L;
  private static final int SEQUENCE = 1;

  private final ByteWriter out = new ByteWriter();

  @Test
  void hello() throws Exception {
    int begin = begin();
    new CallHeader().reset(0, CLIENT).setHello(1, 1, 0, "").encode(out);
    assertExample("hello", begin);
  }

  @Test
  void helloReply() throws Exception {
    int begin = begin();
    ReplyHeader.encodeHello(out, 0, BOOT, NANOS, 1, 0, 50_331_648, "i1");
    assertExample("hello-reply", begin);
  }

  @Test
  void call() throws Exception {
    int begin = begin();
    new CallHeader()
        .reset(7, CLIENT)
        .setDeadline(BOOT, NANOS + 500_000_000)
        .setRetry(0, 1)
        .setTenant("ops")
        .encode(out);
    MessageHeader.encode(
        out, MessageHeader.COMPACT, MessageHeader.CALL, SEQUENCE, "ping".getBytes(UTF_8));
    new StructWriter()
        .write(
            out,
            MessageHeader.COMPACT,
            new ServerService.ping_args().setPayload("hi".getBytes(UTF_8)).setReplySize(2));
    assertExample("call", begin);
  }

  @Test
  void reply() throws Exception {
    int begin = begin();
    ReplyHeader.encode(out, 7, BOOT, NANOS + 250_000);
    MessageHeader.encode(
        out, MessageHeader.COMPACT, MessageHeader.REPLY, SEQUENCE, "ping".getBytes(UTF_8));
    new StructWriter()
        .write(
            out,
            MessageHeader.COMPACT,
            new ServerService.ping_result().setSuccess("hi".getBytes(UTF_8)));
    assertExample("reply", begin);
  }

  @Test
  void refused() throws Exception {
    int begin = begin();
    ReplyHeader.encodeRefused(
        out, 7, BOOT, NANOS + 250_000, SteleException.busy("all workers are busy", 20));
    assertExample("refused", begin);
    ReplyHeader header = new ReplyHeader();
    assertEquals(out.length() - 4, header.decode(out.array(), 4, out.length() - 4));
    assertTrue(header.isRefused());
    assertEquals(ErrorCode.BUSY, header.refusal().code());
    assertEquals(20, header.refusal().retryAfterMillis());
    assertEquals("all workers are busy", header.refusal().getMessage());
  }

  private int begin() {
    out.writeInt(0);
    return 0;
  }

  private void assertExample(String name, int begin) throws Exception {
    out.setInt(begin, out.length() - begin - 4);
    Matcher block =
        Pattern.compile("<!-- example " + name + " -->\n```\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(DOCUMENT, UTF_8));
    assertTrue(block.find(), "the document has no example " + name);
    byte[] expected = HexFormat.of().parseHex(block.group(1).replaceAll("\\s", ""));
    assertArrayEquals(
        expected,
        out.toByteArray(),
        () -> name + " is " + HexFormat.ofDelimiter(" ").formatHex(out.toByteArray()));
  }
}
