package org.stele.core.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The socket itself. */
public final class PlainLink implements Link {
  private final SocketChannel channel;

  /**
   * @param channel not blocking; belongs to this link from now on
   */
  public PlainLink(SocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    return channel.read(into);
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
  public int write(ByteBuffer from) throws IOException {
    return channel.write(from);
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
  public void endOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
