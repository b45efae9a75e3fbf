package org.stele.test.net;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * A port whose queue of connections is full and stays so: whoever connects hears nothing, as from a
 * host that is switched off.
 */
public final class FullBacklog implements Closeable {
  private static final int FILLERS = 16;

  private final ServerSocket listener;
  private final List<SocketChannel> waiting = new ArrayList<>();

  public FullBacklog() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    for (int i = 0; i < FILLERS; i++) {
      SocketChannel channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()));
      waiting.add(channel);
    }
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String address() {
    return "127.0.0.1:" + port();
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : waiting) {
      channel.close();
    }
    listener.close();
  }
}
