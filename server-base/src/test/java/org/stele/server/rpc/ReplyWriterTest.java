package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.stele.core.net.Link;

class ReplyWriterTest {
  /** Takes half of what is written; during the write something else happens. */
  private static final class HalfLink implements Link {
    private final Runnable meanwhile;

    HalfLink(Runnable meanwhile) {
      this.meanwhile = meanwhile;
    }

    @Override
    public int read(ByteBuffer into) {
      return 0;
    }

    @Override
    public boolean hasInput() {
      return false;
    }

    @Override
    public int heldInputBytes() {
      return 0;
    }

    @Override
    public int write(ByteBuffer from) {
      int count = from.remaining() / 2;
      from.position(from.position() + count);
      meanwhile.run();
      return count;
    }

    @Override
    public boolean flush() {
      return true;
    }

    @Override
    public int heldBackBytes() {
      return 0;
    }

    @Override
    public void endOutput() {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void whoIsClosedWhileItWritesWaitsForNoRoom() throws Exception {
    try (EndpointParts parts = new EndpointParts(new Methods(), 1, 1)) {
      ReplyWriter writer = parts.connection.replies();
      writer.setLink(new HalfLink(parts.connection::close));
      writer.send(new byte[1000], 0, 1000);
      parts.loop.runOnce();
      assertFalse(writer.isBlocked());
      assertEquals(Set.of(), parts.endpoint.blocked());
      assertEquals(0, writer.unsentBytes());
      assertEquals(0, parts.endpoint.replyBudget().used());
    }
  }
}
