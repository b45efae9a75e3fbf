package org.stele.server.rpc;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.TBase;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.Extent;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.ScanResult;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteResult;

/**
 * Methods of the real IDL with behaviour that tests control: ping echoes on the selector thread;
 * lookup would block there; scan waits on a worker for a permit; write is answered by the test;
 * settings belongs to the system class; listTables fails.
 */
final class TestService {
  /** Lets one scan each go on. */
  final Semaphore scanPermits = new Semaphore(0);

  /** Scans that run now or have run. */
  final AtomicInteger scansBegun = new AtomicInteger();

  /** Table ids in the order in which scans began. */
  final BlockingQueue<String> scanOrder = new LinkedBlockingQueue<>();

  /** Writes that wait for the test's answer. */
  final BlockingQueue<Call> writes = new LinkedBlockingQueue<>();

  /** Names of the threads that ran a lookup to its end. */
  final BlockingQueue<String> lookupThreads = new LinkedBlockingQueue<>();

  final Map<String, Integer> pings = new ConcurrentHashMap<>();
  final CountDownLatch onewayRun = new CountDownLatch(1);

  Methods methods() {
    return new Methods()
        .add(
            "ServerService",
            "ping",
            Execution.INLINE,
            false,
            ServerService.ping_args::new,
            this::ping)
        .add(
            "ServerService",
            "settings",
            Execution.WORKER,
            true,
            ServerService.settings_args::new,
            (args, call) ->
                call.reply(new ServerService.settings_result().setSuccess(Map.of("a", "b"))))
        .add(
            "TabletService",
            "lookup",
            Execution.INLINE,
            args -> args.getRequest().getTableId().equals("0"),
            TabletService.lookup_args::new,
            this::lookup)
        .add(
            "TabletService",
            "scan",
            Execution.WORKER,
            args -> args.getRequest().getTableId().equals("0"),
            TabletService.scan_args::new,
            this::scan)
        .add(
            "TabletService",
            "write",
            Execution.INLINE,
            false,
            TabletService.write_args::new,
            (args, call) -> writes.add(call))
        .add(
            "TableService",
            "listTables",
            Execution.INLINE,
            false,
            TableService.listTables_args::new,
            (args, call) -> {
              throw new IllegalStateException("broken on purpose");
            })
        .add(
            "TableService",
            "deleteTable",
            Execution.INLINE,
            false,
            TableService.deleteTable_args::new,
            (args, call) -> {
              throw new SteleException(ErrorCode.UNKNOWN_TABLE, "no table " + args.getName());
            });
  }

  private void ping(ServerService.ping_args args, Call call) {
    onewayRun.countDown();
    byte[] payload = args.getPayload();
    int size = args.getReplySize();
    ByteBuffer answer = ByteBuffer.allocate(size);
    answer.put(payload, 0, Math.min(size, payload.length));
    answer.clear();
    call.reply(result(answer));
  }

  static TBase<?, ?> result(ByteBuffer answer) {
    return new ServerService.ping_result().setSuccess(answer);
  }

  private void lookup(TabletService.lookup_args args, Call call) {
    NonBlocking.assertMayBlock();
    lookupThreads.add(Thread.currentThread().getName());
    LookupResult result = new LookupResult();
    result.setPacked(args.getRequest().getRow());
    call.reply(new TabletService.lookup_result().setSuccess(result));
  }

  private void scan(TabletService.scan_args args, Call call) throws InterruptedException {
    scanOrder.add(args.getRequest().getTableId());
    scansBegun.incrementAndGet();
    if (!scanPermits.tryAcquire(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the test gave no permit");
    }
    ScanResult result = new ScanResult();
    result.setExtent(new Extent().setTableId(args.getRequest().getTableId()));
    result.setAtEnd(true);
    call.reply(new TabletService.scan_result().setSuccess(result));
  }

  static TBase<?, ?> writeResult() {
    return new TabletService.write_result().setSuccess(new WriteResult());
  }
}
