package org.stele.server.rpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.stele.core.net.Link;

/**
 * Where the bytes of one read lie until their frames are taken. The socket reads into a direct
 * buffer; an array would make the JDK do the same behind our back. Used by one thread at a time.
 */
final class ReadBuffer {
  static final int BYTES = 128 << 10;

  private final byte[] array = new byte[BYTES];
  private final ByteBuffer direct = ByteBuffer.allocateDirect(BYTES);
  private final RpcCounters counters;

  ReadBuffer(RpcCounters counters) {
    this.counters = counters;
  }

  byte[] array() {
    return array;
  }

  /** Reads and forgets what comes on a socket; -1 at the end of the input. */
  int drop(SocketChannel from) throws IOException {
    return from.read(direct.clear());
  }

  /** One read of at most {@code length} bytes; -1 at the end of the input. */
  int read(Link from, int offset, int length) throws IOException {
    direct.clear().limit(length);
    int count = from.read(direct);
    if (count > 0) {
      counters.bytesRead.add(count);
      direct.flip().get(array, offset, count);
    }
    return count;
  }
}
