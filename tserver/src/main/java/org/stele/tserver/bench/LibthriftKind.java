package org.stele.tserver.bench;

import java.net.InetSocketAddress;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.server.THsHaServer;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadedSelectorServer;
import org.apache.thrift.transport.TNonblockingServerSocket;
import org.apache.thrift.transport.TTransportException;
import org.stele.core.thrift.ServerService;

/** Servers of Apache libthrift as they come, with eight workers: more make them slower. */
enum LibthriftKind {
  ONE_SELECTOR("libthrift-1") {
    @Override
    TServer server(TNonblockingServerSocket socket) {
      return threadedSelector(socket, 1);
    }
  },
  TWO_SELECTORS("libthrift-2") {
    @Override
    TServer server(TNonblockingServerSocket socket) {
      return threadedSelector(socket, 2);
    }
  },
  HALF_SYNC("thsha") {
    @Override
    TServer server(TNonblockingServerSocket socket) {
      return new THsHaServer(
          new THsHaServer.Args(socket)
              .processor(processor())
              .protocolFactory(new TCompactProtocol.Factory())
              .minWorkerThreads(WORKERS)
              .maxWorkerThreads(WORKERS));
    }
  };

  private static final int WORKERS = 8;
  private static final int BACKLOG = 1024;

  /** As the JSON key {@code system} names it. */
  final String system;

  LibthriftKind(String system) {
    this.system = system;
  }

  static TNonblockingServerSocket listen(InetSocketAddress address) throws TTransportException {
    return new TNonblockingServerSocket(
        new TNonblockingServerSocket.NonblockingAbstractServerSocketArgs()
            .bindAddr(address)
            .backlog(BACKLOG));
  }

  abstract TServer server(TNonblockingServerSocket socket);

  private static TServer threadedSelector(TNonblockingServerSocket socket, int selectors) {
    return new TThreadedSelectorServer(
        new TThreadedSelectorServer.Args(socket)
            .processor(processor())
            .protocolFactory(new TCompactProtocol.Factory())
            .selectorThreads(selectors)
            .workerThreads(WORKERS));
  }

  private static ServerService.Processor<ServerService.Iface> processor() {
    return new ServerService.Processor<>(new LibthriftPing());
  }
}
