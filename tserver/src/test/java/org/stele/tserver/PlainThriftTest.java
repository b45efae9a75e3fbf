package org.stele.tserver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMultiplexedProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.core.thrift.Cell;
import org.stele.core.thrift.ErrorCode;
import org.stele.core.thrift.Key;
import org.stele.core.thrift.LookupRequest;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.Mutation;
import org.stele.core.thrift.Range;
import org.stele.core.thrift.ScanRequest;
import org.stele.core.thrift.ScanResult;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.SteleError;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletLocation;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.Update;
import org.stele.core.thrift.UpdateType;
import org.stele.core.thrift.WriteRequest;

/** What any Thrift language can do, with generated code and Thrift's own transports alone. */
class PlainThriftTest {
  @TempDir static Path temp;

  private static MiniServer server;

  private enum Protocol {
    COMPACT,
    BINARY,
    MULTIPLEXED
  }

  @BeforeAll
  static void start() throws Exception {
    server = MiniServer.start(temp);
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static TProtocol connect(Protocol protocol, String service) throws Exception {
    String[] address = server.server().address().split(":");
    TFramedTransport transport =
        new TFramedTransport(new TSocket(address[0], Integer.parseInt(address[1])));
    transport.open();
    return switch (protocol) {
      case COMPACT -> new TCompactProtocol(transport);
      case BINARY -> new TBinaryProtocol(transport);
      case MULTIPLEXED -> new TMultiplexedProtocol(new TCompactProtocol(transport), service);
    };
  }

  @ParameterizedTest
  @EnumSource
  void writesAndReadsWithPlainLists(Protocol protocol) throws Exception {
    TableService.Client tables = new TableService.Client(connect(protocol, "TableService"));
    String name = "plain-" + protocol;
    String id = tables.createTable(name, List.of(bytes("m")), Map.of("table.versions", "2"));
    List<TabletLocation> locations = tables.locate(id, bytes("a"), 10);
    assertEquals(2, locations.size());
    assertEquals(server.server().address(), locations.get(0).getAddress());
    assertEquals("2", tables.describeTable(name).getSettings().get("table.versions"));

    TabletService.Client tablets = new TabletService.Client(connect(protocol, "TabletService"));
    WriteRequest write = new WriteRequest(id);
    write.setMutations(
        List.of(
            new Mutation(bytes("a"), List.of(put("q1", "1"), put("q2", "2"))),
            new Mutation(bytes("b"), List.of(put("q1", "3")))));
    assertFalse(tablets.write(write).isSetFailures());

    LookupRequest lookup = new LookupRequest(id, bytes("a"));
    lookup.setPlain(true);
    LookupResult found = tablets.lookup(lookup);
    assertEquals(List.of("1", "2"), values(found.getCells()));

    ScanRequest scan = new ScanRequest(id, new Range());
    scan.setPlain(true);
    ScanResult batch = tablets.scan(scan);
    assertEquals(List.of("1", "2", "3"), values(batch.getCells()));
    assertTrue(batch.isAtEnd());
    assertEquals("m", new String(batch.getExtent().getEndRow(), UTF_8));
    tables.flushTable(name);
    tables.compactTable(name);
    assertEquals(List.of("1", "2"), values(tablets.lookup(lookup).getCells()));
    tables.deleteTable(name);
    assertEquals(
        ErrorCode.UNKNOWN_TABLE,
        assertThrows(SteleError.class, () -> tables.describeTable(name)).getCode());
  }

  @Test
  void saysWhatIsWrongWithARequest() throws Exception {
    TabletService.Client tablets = new TabletService.Client(connect(Protocol.COMPACT, ""));
    TableService.Client tables = new TableService.Client(connect(Protocol.COMPACT, ""));
    String id = tables.createTable("wrong", List.of(), Map.of());

    WriteRequest empty = new WriteRequest(id);
    assertRefused(ErrorCode.BAD_REQUEST, "either packed or plain", () -> tablets.write(empty));
    WriteRequest junk = new WriteRequest(id);
    junk.setPacked(bytes("junk"));
    assertRefused(ErrorCode.BAD_REQUEST, "version", () -> tablets.write(junk));
    WriteRequest large = new WriteRequest(id);
    large.setMutations(
        List.of(new Mutation(ByteBuffer.wrap(new byte[(1 << 20) + 1]), List.of(put("q", "v")))));
    assertRefused(ErrorCode.TOO_LARGE, "1048576", () -> tablets.write(large));
    WriteRequest metadata = new WriteRequest("0");
    metadata.setMutations(List.of(new Mutation(bytes("a"), List.of(put("q", "v")))));
    assertRefused(ErrorCode.DENIED, "metadata", () -> tablets.write(metadata));

    LookupRequest negative = new LookupRequest(id, bytes("a"));
    negative.setMaxBytes(-1);
    assertRefused(ErrorCode.BAD_REQUEST, "maxBytes is -1", () -> tablets.lookup(negative));
    assertRefused(
        ErrorCode.NOT_SERVING,
        "nowhere",
        () -> tablets.lookup(new LookupRequest("nowhere", bytes("a"))));
    Range gap = new Range();
    Key key = new Key(bytes("a"));
    key.setQualifier(bytes("q"));
    gap.setStart(key);
    assertRefused(
        ErrorCode.BAD_REQUEST, "lacks a part", () -> tablets.scan(new ScanRequest(id, gap)));
    Range backwards = new Range();
    backwards.setStart(new Key(bytes("b")));
    backwards.setStop(new Key(bytes("a")));
    assertRefused(
        ErrorCode.BAD_REQUEST,
        "after its stop",
        () -> tablets.scan(new ScanRequest(id, backwards)));
    assertRefused(
        ErrorCode.BAD_REQUEST,
        "no table name",
        () -> tables.createTable("a b", List.of(), Map.of()));
    assertRefused(
        ErrorCode.BAD_REQUEST,
        "the system's",
        () -> tables.createTable("stele.x", List.of(), Map.of()));
    assertRefused(
        ErrorCode.BAD_REQUEST,
        "not a setting of tables",
        () -> tables.createTable("x", List.of(), Map.of("rpc.port", "1")));
  }

  @Test
  void tellsAboutItself() throws Exception {
    ServerService.Client client = new ServerService.Client(connect(Protocol.COMPACT, ""));
    assertTrue(client.status().isReady());
    assertEquals(server.server().session(), client.status().getSession());
    assertEquals(5, client.ping(bytes("x"), 5).remaining());
    assertEquals("64M", client.settings().get("memtable.bytes"));
  }

  private interface Request {
    void send() throws Exception;
  }

  private static void assertRefused(ErrorCode code, String words, Request request) {
    SteleError error = assertThrows(SteleError.class, request::send);
    assertEquals(code, error.getCode(), error.getMessage());
    assertTrue(error.getMessage().contains(words), error.getMessage());
  }

  private static Update put(String qualifier, String value) {
    Update update = new Update(UpdateType.PUT);
    update.setFamily(bytes("f"));
    update.setQualifier(bytes(qualifier));
    update.setValue(bytes(value));
    return update;
  }

  private static List<String> values(List<Cell> cells) {
    return cells.stream().map(cell -> new String(cell.getValue(), UTF_8)).toList();
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }
}
