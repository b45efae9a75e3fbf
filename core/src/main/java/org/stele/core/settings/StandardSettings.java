package org.stele.core.settings;

import static org.stele.core.settings.Setting.Applies.AT_RESTART;
import static org.stele.core.settings.Setting.Applies.FOR_NEW_TABLES;
import static org.stele.core.settings.Setting.Scope.SERVER;
import static org.stele.core.settings.Setting.Scope.TABLE;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.stele.core.data.Durability;

/**
 * Every setting there is, in the order of the reference (docs/settings.md is made from this list).
 */
public final class StandardSettings {
  private static final List<Setting<?>> ALL = new ArrayList<>();
  private static final Map<String, Setting<?>> BY_NAME = new LinkedHashMap<>();

  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;
  private static final long GIB = 1 << 30;

  // ---- Instance and coordination

  public static final Setting<String> ZOOKEEPER_CONNECT =
      define(
          "zookeeper.connect",
          hosts(),
          "127.0.0.1:9641",
          SERVER,
          AT_RESTART,
          "ZooKeeper servers of the instance, as host:port with commas between, and an optional"
              + " /path.");
  public static final Setting<Duration> ZOOKEEPER_SESSION_TIMEOUT =
      define(
          "zookeeper.session.timeout",
          duration("1s", "10m"),
          "30s",
          SERVER,
          AT_RESTART,
          "How long ZooKeeper waits for a silent server before its tablets are given to others."
              + " Shorter: faster failover; longer: fewer false alarms.");
  public static final Setting<String> ZOOKEEPER_BIND_ADDRESS =
      define(
          "zookeeper.bind.address",
          host(),
          "127.0.0.1",
          SERVER,
          AT_RESTART,
          "Address that the embedded ZooKeeper of a standalone server listens on.");
  public static final Setting<Integer> ZOOKEEPER_PORT =
      define(
          "zookeeper.port",
          SettingType.integer(0, 65535),
          "9641",
          SERVER,
          AT_RESTART,
          "Port of the embedded ZooKeeper of a standalone server; 0 takes a free one (read it from"
              + " `stele status`).");
  public static final Setting<String> ROOT_URI =
      define(
          "root.uri",
          text("a file: or hdfs: URI, or blank", "(|[a-z][a-z0-9+.-]*:/.*)"),
          "",
          Setting.Scope.INSTANCE,
          AT_RESTART,
          "Where sorted files and logs lie. Blank: the directory `store` of the instance"
              + " directory.");

  // ---- Endpoint

  public static final Setting<String> RPC_BIND_ADDRESS =
      define(
          "rpc.bind.address",
          host(),
          "127.0.0.1",
          SERVER,
          AT_RESTART,
          "Address that clients connect to.");
  public static final Setting<String> RPC_ADVERTISE_ADDRESS =
      define(
          "rpc.advertise.address",
          text("a host name or address, or blank", "[A-Za-z0-9.:_-]*"),
          "",
          SERVER,
          AT_RESTART,
          "Host that clients are told. Blank: the bind address; needed if that is a wildcard.");
  public static final Setting<Integer> RPC_PORT =
      define(
          "rpc.port",
          SettingType.integer(0, 65535),
          "9640",
          SERVER,
          AT_RESTART,
          "Port that clients connect to; 0 takes a free one (read it from `stele status`).");
  public static final Setting<ServerType> RPC_SERVER_TYPE =
      define(
          "rpc.server.type",
          ServerType.settingType(),
          "threaded_selector",
          SERVER,
          AT_RESTART,
          "How connections are served: by a few threads (threaded_selector), by one (custom_hs_ha),"
              + " by a thread for each (threadpool), or by a few with TLS (ssl); sasl is not there"
              + " yet. Blank means the default.");
  public static final Setting<Integer> RPC_SELECTORS =
      define(
          "rpc.selectors",
          SettingType.integer(0, 64),
          "0",
          SERVER,
          AT_RESTART,
          "Selector threads of threaded_selector and ssl; 0 means max(2, cores / 4).");
  public static final Setting<Boolean> RPC_TLS =
      define(
          "rpc.tls",
          SettingType.bool(),
          "false",
          SERVER,
          AT_RESTART,
          "Whether connections are encrypted, with each type of server. Servers and the command"
              + " line read the rpc.tls settings as clients, too.");
  public static final Setting<String> RPC_TLS_CERTIFICATE =
      define(
          "rpc.tls.certificate",
          file(),
          "",
          SERVER,
          AT_RESTART,
          "Certificate of this server or client, and those that lead to a trusted one: PEM, or"
              + " PKCS12 if the name ends with .p12 or .pfx.");
  public static final Setting<String> RPC_TLS_KEY =
      define(
          "rpc.tls.key",
          file(),
          "",
          SERVER,
          AT_RESTART,
          "The certificate's private key (PEM, PKCS8). Blank: it is in the file of the"
              + " certificate.");
  public static final Setting<String> RPC_TLS_PASSWORD_FILE =
      define(
          "rpc.tls.password.file",
          file(),
          "",
          SERVER,
          AT_RESTART,
          "File whose first line opens PKCS12 files and encrypted keys.");
  public static final Setting<String> RPC_TLS_TRUST =
      define(
          "rpc.tls.trust",
          file(),
          "",
          SERVER,
          AT_RESTART,
          "Certificates that vouch for the other side: PEM or PKCS12. Blank: those that the JDK"
              + " trusts, for servers only.");
  public static final Setting<ClientCertificates> RPC_TLS_CLIENT_CERTIFICATES =
      define(
          "rpc.tls.client.certificates",
          SettingType.oneOf(ClientCertificates.class),
          "none",
          SERVER,
          AT_RESTART,
          "Whether clients need a certificate: none (not asked for), optional (checked if there is"
              + " one), required.");
  public static final Setting<Duration> RPC_TLS_HANDSHAKE_TIMEOUT =
      define(
          "rpc.tls.handshake.timeout",
          duration("100ms", "10m"),
          "8s",
          SERVER,
          AT_RESTART,
          "A connection whose TLS handshake is not done within this time is closed.");
  public static final Setting<Integer> RPC_WORKERS =
      define(
          "rpc.workers",
          SettingType.integer(1, 4096),
          "32",
          SERVER,
          AT_RESTART,
          "Most worker threads for calls that read files or wait; they are made when calls come.");
  public static final Setting<Duration> RPC_WORKERS_IDLE_TIMEOUT =
      define(
          "rpc.workers.idle.timeout",
          duration("10ms", "1d"),
          "60s",
          SERVER,
          AT_RESTART,
          "A worker thread without a call for so long ends.");
  public static final Setting<Integer> RPC_QUEUE_CALLS =
      define(
          "rpc.queue.calls",
          SettingType.integer(1, 1_000_000),
          "2048",
          SERVER,
          AT_RESTART,
          "Most calls waiting for a worker; beyond it the call with the latest deadline of whoever"
              + " has most is answered BUSY.");
  public static final Setting<Long> RPC_QUEUE_BYTES =
      define(
          "rpc.queue.bytes",
          size(MIB, 16 * GIB),
          "64M",
          SERVER,
          AT_RESTART,
          "Most bytes of calls waiting for a worker.");
  public static final Setting<Boolean> RPC_TENANT_TRUSTED =
      define(
          "rpc.tenant.trusted",
          SettingType.bool(),
          "false",
          SERVER,
          AT_RESTART,
          "Whether the tenant that a call names is who shares the workers with others; else it is"
              + " the client's address.");
  public static final Setting<String> RPC_TENANT_WEIGHTS =
      define(
          "rpc.tenant.weights",
          text(
              "NAME=WEIGHT with commas between, weights from 1 to 1000; or blank",
              "(|[^,=\\s]+=([1-9][0-9]{0,2}|1000)(,[^,=\\s]+=([1-9][0-9]{0,2}|1000))*)"),
          "",
          SERVER,
          AT_RESTART,
          "Shares of tenants or client addresses in the workers' time when all want more; 1 for who"
              + " is not named.");
  public static final Setting<Long> RPC_FRAME_MAX =
      define(
          "rpc.frame.max",
          size(64 * KIB, 255 * MIB),
          "48M",
          SERVER,
          AT_RESTART,
          "Largest frame accepted; a connection that announces more is closed.");
  public static final Setting<Long> RPC_READ_BYTES =
      define(
          "rpc.read.bytes",
          size(MIB, 16 * GIB),
          "128M",
          SERVER,
          AT_RESTART,
          "Most bytes of frames that are being read and of calls that are not answered, of all"
              + " connections; near it calls are answered BUSY, beyond it connections are not read"
              + " until there is room.");
  public static final Setting<Long> RPC_REPLY_BYTES =
      define(
          "rpc.reply.bytes",
          size(MIB, 16 * GIB),
          "128M",
          SERVER,
          AT_RESTART,
          "Most bytes of replies not yet taken by their clients, all connections together.");
  public static final Setting<Integer> RPC_CONNECTIONS =
      define(
          "rpc.connections",
          SettingType.integer(1, 1_000_000),
          "10000",
          SERVER,
          AT_RESTART,
          "Most connections; more are closed as they come.");
  public static final Setting<Duration> RPC_IDLE_TIMEOUT =
      define(
          "rpc.idle.timeout",
          duration("100ms", "7d"),
          "5m",
          SERVER,
          AT_RESTART,
          "A connection without a call for so long is closed.");
  public static final Setting<Duration> RPC_PARTIAL_TIMEOUT =
      define(
          "rpc.partial.timeout",
          duration("100ms", "1h"),
          "30s",
          SERVER,
          AT_RESTART,
          "A frame that was begun must be whole within this time, else its connection is closed.");
  public static final Setting<Duration> RPC_WRITE_TIMEOUT =
      define(
          "rpc.write.timeout",
          duration("100ms", "1h"),
          "60s",
          SERVER,
          AT_RESTART,
          "A reply of which the client takes nothing for so long closes its connection.");
  public static final Setting<Duration> RPC_DEADLINE_DEFAULT =
      define(
          "rpc.deadline.default",
          duration("10ms", "1d"),
          "60s",
          SERVER,
          AT_RESTART,
          "Deadline of calls that bring none.");
  public static final Setting<Duration> RPC_DEADLINE_MAX =
      define(
          "rpc.deadline.max",
          duration("10ms", "1d"),
          "1h",
          SERVER,
          AT_RESTART,
          "Calls with a later deadline get this one.");

  // ---- Write-ahead log

  public static final Setting<Long> WAL_SIZE =
      define(
          "wal.size",
          size(64 * KIB, 16 * GIB),
          "128M",
          SERVER,
          AT_RESTART,
          "A log of this size is closed and the next one begun. Larger: fewer files; smaller: less"
              + " to replay.");
  public static final Setting<Long> WAL_QUEUE_BYTES =
      define(
          "wal.queue.bytes",
          size(64 * KIB, 4 * GIB),
          "64M",
          SERVER,
          AT_RESTART,
          "Most bytes of writes waiting for the log; beyond it writes wait, then get BUSY.");
  public static final Setting<Integer> WAL_RETAINED_LOGS =
      define(
          "wal.retained.logs",
          SettingType.integer(1, 10_000),
          "8",
          SERVER,
          AT_RESTART,
          "With more logs than this, tablets that hold the oldest are flushed.");

  // ---- Memory, flush, compaction, cache

  public static final Setting<Long> MEMTABLE_BYTES =
      define(
          "memtable.bytes",
          size(MIB, 1024 * GIB),
          "192M",
          SERVER,
          AT_RESTART,
          "Memory for writes not yet in sorted files, all tablets together; from three quarters on"
              + " the largest are flushed and writes slow down, at the whole they wait, then get"
              + " BUSY.");
  public static final Setting<Long> MEMTABLE_TABLET_BYTES =
      define(
          "memtable.tablet.bytes",
          size(64 * KIB, 64 * GIB),
          "48M",
          SERVER,
          AT_RESTART,
          "A tablet whose memtable reaches this is flushed.");
  public static final Setting<Integer> FLUSH_THREADS =
      define(
          "flush.threads",
          SettingType.integer(1, 64),
          "1",
          SERVER,
          AT_RESTART,
          "Threads that flush memtables.");
  public static final Setting<Integer> COMPACTION_THREADS =
      define(
          "compaction.threads",
          SettingType.integer(1, 64),
          "1",
          SERVER,
          AT_RESTART,
          "Threads that compact files.");
  public static final Setting<Long> CACHE_DATA_BYTES =
      define(
          "cache.data.bytes",
          size(0, 1024 * GIB),
          "256M",
          SERVER,
          AT_RESTART,
          "Memory for data blocks; 0 keeps none.");
  public static final Setting<Long> CACHE_INDEX_BYTES =
      define(
          "cache.index.bytes",
          size(0, 1024 * GIB),
          "64M",
          SERVER,
          AT_RESTART,
          "Memory for index blocks and filters; 0 keeps none.");
  public static final Setting<Long> SCAN_BATCH_BYTES =
      define(
          "scan.batch.bytes",
          size(4 * KIB, 32 * MIB),
          "1M",
          SERVER,
          AT_RESTART,
          "Most bytes of cells in one answer; a row that is larger comes in several.");
  public static final Setting<Duration> SCAN_BATCH_TIME =
      define(
          "scan.batch.time",
          duration("1ms", "1m"),
          "200ms",
          SERVER,
          AT_RESTART,
          "A scan answers with what it has after this time, or after 10 ms while other calls wait,"
              + " so that it cannot hold them up.");
  public static final Setting<Duration> FILES_GRACE =
      define(
          "files.grace",
          duration("0s", "30d"),
          "60s",
          SERVER,
          AT_RESTART,
          "A file that nothing refers to any more is deleted after this time.");

  // ---- Tables

  public static final Setting<Durability> TABLE_DURABILITY =
      define(
          "table.durability",
          SettingType.oneOf(Durability.class),
          "sync",
          TABLE,
          FOR_NEW_TABLES,
          "When writes are acknowledged: none (not logged), log (written to the log's file), flush"
              + " (with the operating system), sync (on disk).");
  public static final Setting<Integer> TABLE_VERSIONS =
      define(
          "table.versions",
          SettingType.integer(1, 1_000_000),
          "1",
          TABLE,
          FOR_NEW_TABLES,
          "How many timestamps of a column are kept and shown, newest first.");
  public static final Setting<String> TABLE_COMPRESSION =
      define(
          "table.file.compression",
          text("one of lz4, zstd, snappy, none", "lz4|zstd|snappy|none"),
          "lz4",
          TABLE,
          FOR_NEW_TABLES,
          "How the blocks of new sorted files are compressed.");
  public static final Setting<Long> TABLE_BLOCK_BYTES =
      define(
          "table.file.block.bytes",
          size(512, 8 * MIB),
          "8K",
          TABLE,
          FOR_NEW_TABLES,
          "Size of data blocks before compression. Smaller: cheaper lookups; larger: smaller files,"
              + " faster scans.");
  public static final Setting<Integer> TABLE_FILTER_BITS =
      define(
          "table.file.filter.bits",
          SettingType.integer(0, 32),
          "10",
          TABLE,
          FOR_NEW_TABLES,
          "Bits per row of the filter that spares lookups of rows a file does not have; 0 makes"
              + " none.");
  public static final Setting<Integer> TABLE_FILES_MAX =
      define(
          "table.files.max",
          SettingType.integer(2, 1000),
          "10",
          TABLE,
          FOR_NEW_TABLES,
          "A tablet with more files is compacted before anything else.");

  private StandardSettings() {}

  private static <T> Setting<T> define(
      String name,
      SettingType<T> type,
      String defaultText,
      Setting.Scope scope,
      Setting.Applies applies,
      String description) {
    Setting<T> setting = new Setting<>(name, type, defaultText, scope, applies, description);
    ALL.add(setting);
    if (BY_NAME.put(name, setting) != null) {
      throw new IllegalStateException(name + " is defined twice");
    }
    return setting;
  }

  private static SettingType<Duration> duration(String min, String max) {
    SettingType<Duration> any = SettingType.duration(Duration.ZERO, Duration.ofDays(36500));
    return SettingType.duration(any.parse("least", min), any.parse("most", max));
  }

  private static SettingType<Long> size(long min, long max) {
    return SettingType.size(min, max);
  }

  private static SettingType<String> text(String rule, String pattern) {
    return SettingType.text(rule, Pattern.compile(pattern));
  }

  private static SettingType<String> file() {
    return text("the full path of a file, or blank", "(|/.*)");
  }

  private static SettingType<String> host() {
    return text("a host name or address", "[A-Za-z0-9.:_-]+");
  }

  private static SettingType<String> hosts() {
    return text(
        "host:port with commas between, and an optional /path",
        "[A-Za-z0-9._-]+:\\d{1,5}(,[A-Za-z0-9._-]+:\\d{1,5})*(/[A-Za-z0-9/._-]+)?");
  }

  /** In the order of the reference. */
  public static List<Setting<?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  public static Map<String, Setting<?>> byName() {
    return Collections.unmodifiableMap(BY_NAME);
  }

  /** The known name that is the fewest edits away from {@code name}. */
  public static String nearest(String name) {
    return BY_NAME.keySet().stream()
        .min(Comparator.comparingInt(known -> edits(known, name)))
        .orElseThrow();
  }

  /** Levenshtein distance. */
  private static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
