package org.stele.server.rpc;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsLink;
import org.stele.core.net.TlsOptions;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;

/**
 * What an encrypted endpoint has beyond another one: certificates, and threads for the parts of
 * handshakes that take milliseconds ({@code rpc-tls-N}). A connection has at most one such part
 * here at a time, so there are at most as many as connections. Thread-safe.
 */
final class TlsHandshakes implements AutoCloseable {
  private final TlsContext context;
  private final ThreadPoolExecutor threads;

  private TlsHandshakes(TlsContext context, int connections) {
    this.context = context;
    AtomicInteger number = new AtomicInteger();
    int count = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(connections),
            task -> {
              Thread thread = new Thread(task, "rpc-tls-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Null if the settings want no TLS.
   *
   * @throws IOException naming the file that is wrong
   */
  static @Nullable TlsHandshakes wanted(Settings settings) throws IOException {
    if (!TlsOptions.isWanted(settings)) {
      return null;
    }
    TlsContext context =
        TlsContext.forServer(
            TlsOptions.of(settings), settings.get(StandardSettings.RPC_TLS_CLIENT_CERTIFICATES));
    return new TlsHandshakes(context, settings.get(StandardSettings.RPC_CONNECTIONS));
  }

  TlsLink accepted(SocketChannel channel) {
    return context.accepted(channel);
  }

  /** Has something run that takes processor time; false if that is not possible. */
  boolean run(Runnable part) {
    try {
      threads.execute(part);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) { // closed, or no thread to be had
      return false;
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
