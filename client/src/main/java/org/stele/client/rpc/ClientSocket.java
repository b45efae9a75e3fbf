package org.stele.client.rpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.stele.core.net.Link;
import org.stele.core.net.PlainLink;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsLink;

/**
 * A socket that never blocks, the link over it, and the selector in which its one reader waits. As
 * nothing blocks in the channel, an interrupt cannot close it. Who reads and writes is for {@link
 * Connection} and its parts to say; waking and closing are for any thread.
 */
final class ClientSocket {
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;

  /** Written by the thread that makes the connection. */
  private Link link;

  private ClientSocket(SocketChannel channel, Selector selector) throws IOException {
    this.channel = channel;
    this.selector = selector;
    this.key = channel.register(selector, 0);
    this.link = new PlainLink(channel);
  }

  /** Not connected yet. */
  @SuppressWarnings("MustBeClosed") // closed here unless the socket takes both over
  static ClientSocket open() throws IOException {
    SocketChannel channel = null;
    Selector selector = null;
    boolean open = false;
    try {
      channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      selector = Selector.open();
      ClientSocket socket = new ClientSocket(channel, selector);
      open = true;
      return socket;
    } finally {
      if (!open && selector != null) {
        selector.close();
      }
      if (!open && channel != null) {
        channel.close();
      }
    }
  }

  /**
   * Begins to connect; false: {@link #finishConnect} when the socket is ready for it.
   *
   * @param from the address that the connection comes from; null: as the system chooses
   */
  boolean connect(InetSocketAddress target, @Nullable InetAddress from) throws IOException {
    if (from != null) {
      channel.bind(new InetSocketAddress(from, 0));
    }
    key.interestOps(SelectionKey.OP_CONNECT);
    return channel.connect(target);
  }

  boolean finishConnect() throws IOException {
    return channel.finishConnect();
  }

  /** From now on the link is an encrypted one, whose handshake is to come. */
  TlsLink secure(TlsContext tls, ServerAddress address) {
    TlsLink secured = tls.connected(channel, address.host(), address.port());
    link = secured;
    return secured;
  }

  /** For whoever reads and whoever writes. */
  Link link() {
    return link;
  }

  /** From now on {@link #await} waits for these operations of {@link SelectionKey}. */
  void awaits(int operations) {
    key.interestOps(operations);
  }

  /**
   * Waits until there is something to do, at most so long, or until {@link #wakeUp}.
   *
   * @return false if the socket is closed
   */
  boolean await(long nanos) throws IOException {
    long millis = nanos == Long.MAX_VALUE ? 0 : Math.max(1, nanos / 1_000_000);
    try {
      selector.select(selected -> {}, millis);
      return true;
    } catch (ClosedSelectorException e) {
      return false;
    }
  }

  /** Ends the wait under way, else the next one. */
  void wakeUp() {
    selector.wakeup();
  }

  /** Idempotent. */
  void close() {
    try {
      selector.close();
      link.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close a socket", e);
    }
  }
}
