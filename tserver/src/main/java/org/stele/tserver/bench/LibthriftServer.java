package org.stele.tserver.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.server.TServer;
import org.apache.thrift.transport.TNonblockingServerSocket;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;

/** Runs a server of libthrift in this process until standard input ends. */
final class LibthriftServer {
  private LibthriftServer() {}

  static void run(CommandContext context, LibthriftKind kind) throws IOException {
    try {
      TNonblockingServerSocket socket =
          LibthriftKind.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      TServer server = kind.server(socket);
      Thread serving = new Thread(server::serve, "bench-libthrift");
      serving.setDaemon(true);
      serving.start();
      sayReady(context, socket.getPort());
      awaitEndOfInput(context);
      server.stop();
    } catch (TException e) {
      throw new CommandFailure("a server of libthrift failed: " + e.getMessage(), e);
    }
  }

  /** What {@link BenchProcess#awaitReady} reads. */
  static void sayReady(CommandContext context, int port) {
    Map<String, @Nullable Object> ready = new LinkedHashMap<>();
    ready.put("pid", ProcessHandle.current().pid());
    ready.put("port", port);
    context.printJson(ready);
    context.out().flush();
  }

  static void awaitEndOfInput(CommandContext context) throws IOException {
    byte[] nothing = new byte[64];
    while (context.in().read(nothing) >= 0) {
      // whoever started this process has nothing to say but that it ends
    }
  }
}
