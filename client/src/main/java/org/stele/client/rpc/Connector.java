package org.stele.client.rpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.net.Link;
import org.stele.core.net.PlainLink;
import org.stele.core.time.Clock;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.ReplyHeader;

/**
 * Makes connections: resolves the name (each time anew), connects, and exchanges HELLO, by which
 * both sides agree on the header's version and on the instance. What it opened it closes if any of
 * that fails. Thread-safe; blocks its caller up to the connect timeout.
 */
final class Connector {
  private final RpcOptions options;
  private final Clock clock;
  private final ExecutorService resolver;
  private final ThreadFactory ioThreads;
  private final Supplier<String> instanceId;

  /**
   * @param resolver runs name resolution, which cannot be given a timeout
   * @param instanceId that servers must be of; empty: any
   */
  Connector(
      RpcOptions options,
      Clock clock,
      ExecutorService resolver,
      ThreadFactory ioThreads,
      Supplier<String> instanceId) {
    this.options = options;
    this.clock = clock;
    this.resolver = resolver;
    this.ioThreads = ioThreads;
    this.instanceId = instanceId;
  }

  /**
   * @throws AttemptException if there is no connection in time
   * @throws InterruptedException if the thread was interrupted meanwhile
   */
  Connection connect(ServerAddress address, long deadlineNanos) throws InterruptedException {
    long latest = clock.nanos() + options.connectTimeout().toNanos();
    long end = latest - deadlineNanos < 0 ? latest : deadlineNanos;
    InetSocketAddress target = new InetSocketAddress(resolve(address, end), address.port());
    SocketChannel channel = null;
    Selector selector = null;
    Connection made = null;
    try {
      channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      selector = Selector.open();
      SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
      if (!channel.connect(target)) {
        while (!channel.finishConnect()) {
          await(address, selector, end, "connected");
        }
      }
      key.interestOps(SelectionKey.OP_READ);
      made = greet(address, channel, selector, key, end);
      return made;
    } catch (IOException | MalformedBytesException e) {
      throw AttemptException.notSent(address.toString(), "no connection: " + e, e);
    } finally {
      if (made == null) {
        closeAll(selector, channel);
      }
    }
  }

  private Connection greet(
      ServerAddress address,
      SocketChannel channel,
      Selector selector,
      SelectionKey key,
      long endNanos)
      throws IOException, InterruptedException {
    Link link = new PlainLink(channel);
    ByteBuffer hello = hello();
    while (hello.hasRemaining() || !link.flush()) {
      if (link.write(hello) == 0) {
        await(address, selector, endNanos, "greeted");
      }
    }
    ReplyReader replies = new ReplyReader(options.maxReplyBytes());
    List<byte[]> frames = new ArrayList<>(1);
    while (frames.isEmpty()) {
      await(address, selector, endNanos, "greeted");
      replies.read(link, frames);
    }
    ReplyHeader answer = new ReplyHeader();
    answer.decode(frames.get(0), 0, frames.get(0).length);
    if (answer.isRefused()) {
      throw AttemptException.notSent(
          address.toString(),
          "the server refuses the connection: " + answer.refusal().getMessage(),
          answer.refusal());
    }
    if (!answer.isHello() || answer.version() != CallHeader.VERSION || frames.size() != 1) {
      throw new IOException("the server does not greet as Stele servers do");
    }
    return Connection.established(
        address.toString(), clock, ioThreads, link, selector, key, replies, answer);
  }

  private ByteBuffer hello() {
    ByteWriter out = new ByteWriter();
    out.writeInt(0);
    new CallHeader()
        .reset(0, options.clientId())
        .setHello(CallHeader.VERSION, CallHeader.VERSION, 0, instanceId.get())
        .encode(out);
    out.setInt(0, out.length() - Integer.BYTES);
    return ByteBuffer.wrap(out.toByteArray());
  }

  private void await(ServerAddress address, Selector selector, long endNanos, String what)
      throws IOException, InterruptedException {
    long left = endNanos - clock.nanos();
    if (left <= 0) {
      throw AttemptException.notSent(
          address.toString(),
          "not " + what + " within " + options.connectTimeout() + " or the deadline",
          null);
    }
    selector.select(selected -> {}, Math.max(1, left / 1_000_000));
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted connecting to " + address);
    }
  }

  private InetAddress resolve(ServerAddress address, long endNanos) throws InterruptedException {
    String server = address.toString();
    Future<InetAddress> answer;
    try {
      answer = resolver.submit(() -> InetAddress.getByName(address.host()));
    } catch (RejectedExecutionException e) {
      throw AttemptException.notSent(server, "the client is closed", e);
    }
    try {
      return answer.get(Math.max(0, endNanos - clock.nanos()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw AttemptException.notSent(
          server, "name " + address.host() + " is not known: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw AttemptException.notSent(server, "name " + address.host() + " not resolved in time", e);
    }
  }

  private static void closeAll(@Nullable Selector selector, @Nullable SocketChannel channel) {
    try {
      if (selector != null) {
        selector.close();
      }
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close a socket", e);
    }
  }
}
