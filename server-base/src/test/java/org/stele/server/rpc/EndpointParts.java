package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.stele.core.data.ByteWriter;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.core.wire.MessageHeader;

/** The parts of an endpoint without its threads, and one connection that no selector serves. */
final class EndpointParts implements AutoCloseable {
  final RpcLimits limits = RpcLimits.of(Settings.of(Map.of()));
  final Clock clock = Clock.system();
  final MethodTable methods;
  final WorkerPool users;
  final WorkerPool system;
  final Endpoint endpoint;
  final CallDispatcher dispatcher;
  final SelectorLoop loop;
  final SocketChannel peer;
  final Connection connection;

  EndpointParts(Methods declared, int workers, long workerIdleNanos) throws IOException {
    methods = new MethodTable(declared);
    users = new WorkerPool("test-worker", workers, workerIdleNanos, 100, 1 << 20, p -> 1, clock);
    system = new WorkerPool("test-system", 1, workerIdleNanos, 100, 1 << 20, p -> 1, clock);
    endpoint = new Endpoint(limits, clock, methods, users, system, null);
    dispatcher = new CallDispatcher(endpoint, methods, users, system, "instance", 1);
    loop = SelectorLoop.shared(endpoint, dispatcher, SelectorLoop.NO_TICK);
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      peer = SocketChannel.open(listening.getLocalAddress());
      SocketChannel accepted = listening.accept();
      accepted.configureBlocking(false);
      connection = new Connection(accepted, loop, (InetSocketAddress) accepted.getRemoteAddress());
    }
  }

  /** A call of a method without arguments that is never answered by bytes. */
  Invocation oneway(String name) {
    ByteWriter out = new ByteWriter();
    byte[] utf8 = name.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    MessageHeader.encode(out, MessageHeader.COMPACT, MessageHeader.ONEWAY, 1, utf8);
    byte[] frame = out.writeByte(0).toByteArray();
    MessageHeader message = new MessageHeader();
    message.decode(frame, 0, frame.length);
    ServedMethod<?> method = methods.find(utf8, 0, utf8.length);
    if (method == null) {
      throw new IllegalArgumentException(name);
    }
    connection.begin(false);
    Invocation call =
        new Invocation(
            connection, dispatcher, method, message, clock.nanos() + limits.deadlineMaxNanos());
    call.setFrame(frame, message.bodyOffset(), frame.length);
    return call;
  }

  @Override
  public void close() throws IOException {
    users.close();
    system.close();
    connection.close();
    loop.closeAll();
    peer.close();
  }
}
