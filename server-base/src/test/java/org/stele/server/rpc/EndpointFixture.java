package org.stele.server.rpc;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.thrift.TBase;
import org.apache.thrift.transport.TSocket;
import org.awaitility.Awaitility;
import org.stele.core.settings.Settings;
import org.stele.core.thrift.LookupRequest;
import org.stele.core.thrift.Range;
import org.stele.core.thrift.ScanRequest;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteRequest;
import org.stele.core.time.Clock;

/** A started endpoint with {@link TestService}, and arguments for its methods. */
final class EndpointFixture implements AutoCloseable {
  static final long BOOT_ID = 0xb007;
  static final String INSTANCE = "instance-1";

  /** Of the endpoints that are started from now on. Test classes run one after the other. */
  static ServerKind kind = ServerKind.THREADED_SELECTOR;

  final TestService service = new TestService();
  final RpcServer server;

  EndpointFixture(Clock clock, String... namesAndValues) throws IOException {
    Map<String, String> settings = new HashMap<>();
    settings.put("rpc.port", "0");
    settings.putAll(kind.settings());
    for (int i = 0; i < namesAndValues.length; i += 2) {
      settings.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    server = new RpcServer(Settings.of(settings), service.methods(), clock, INSTANCE, BOOT_ID);
    server.start();
  }

  static EndpointFixture start(String... namesAndValues) throws IOException {
    return new EndpointFixture(Clock.system(), namesAndValues);
  }

  RawClient connect() throws IOException {
    return new RawClient(server.address());
  }

  /** For clients of libthrift. */
  TSocket thriftSocket() throws Exception {
    return new TSocket(connect().socket);
  }

  RawClient greeted() throws IOException {
    return RawClient.greeted(server.address());
  }

  long count(String counter) {
    return server.counters().snapshot().getOrDefault(counter, 0L);
  }

  void await(String counter, long value) {
    await(() -> count(counter) == value);
  }

  static void await(BooleanSupplier condition) {
    Awaitility.await().until(condition::getAsBoolean);
  }

  /** One whole call on a connection of its own. */
  void assertServes() throws Exception {
    try (RawClient client = greeted()) {
      client.call(1, "ping", ping(1)).flush();
      if (client.readReply() != 1) {
        throw new AssertionError("another call's reply");
      }
    }
  }

  static TBase<?, ?> ping(int replySize) {
    return new ServerService.ping_args().setPayload(new byte[] {1, 2, 3}).setReplySize(replySize);
  }

  static TBase<?, ?> ping(byte[] payload, int replySize) {
    return new ServerService.ping_args().setPayload(payload).setReplySize(replySize);
  }

  static TBase<?, ?> scan(String tableId) {
    return new TabletService.scan_args()
        .setRequest(new ScanRequest().setTableId(tableId).setRange(new Range()));
  }

  static TBase<?, ?> lookup(byte[] row) {
    return lookup("t", row);
  }

  static TBase<?, ?> lookup(String tableId, byte[] row) {
    return new TabletService.lookup_args()
        .setRequest(new LookupRequest().setTableId(tableId).setRow(row));
  }

  static TBase<?, ?> write() {
    return new TabletService.write_args().setRequest(new WriteRequest().setTableId("t"));
  }

  @Override
  public void close() {
    service.scanPermits.release(1_000_000);
    server.close();
  }
}
