package org.stele.client.rpc;

import org.apache.thrift.TConfiguration;
import org.apache.thrift.transport.TEndpointTransport;
import org.apache.thrift.transport.TTransportException;
import org.stele.core.data.ByteWriter;

/** What a Thrift protocol writes a frame to, or reads it from. Not thread-safe. */
abstract class FrameTransport extends TEndpointTransport {
  private static final byte[] NOTHING = new byte[0];

  private byte[] in = NOTHING;
  private int position;
  private int limit;

  FrameTransport(TConfiguration configuration) throws TTransportException {
    super(configuration);
  }

  /** Where written bytes go. */
  abstract ByteWriter out();

  void readFrom(byte[] frame, int offset) throws TTransportException {
    in = frame;
    position = offset;
    limit = frame.length;
    resetConsumedMessageSize(-1);
    updateKnownMessageSize(limit - offset);
  }

  void forget() {
    in = NOTHING;
    position = 0;
    limit = 0;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void open() {}

  @Override
  public void close() {}

  @Override
  public int read(byte[] target, int offset, int length) throws TTransportException {
    int count = Math.min(length, limit - position);
    if (count == 0 && length > 0) {
      throw new TTransportException(
          TTransportException.END_OF_FILE, "the reply ends within its message");
    }
    System.arraycopy(in, position, target, offset, count);
    position += count;
    return count;
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    out().writeBytes(source, offset, length);
  }

  @Override
  public byte[] getBuffer() {
    return in;
  }

  @Override
  public int getBufferPosition() {
    return position;
  }

  @Override
  public int getBytesRemainingInBuffer() {
    return limit - position;
  }

  @Override
  public void consumeBuffer(int length) {
    position += length;
  }
}
