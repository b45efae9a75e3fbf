package org.stele.peers.accumulo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.accumulo.minicluster.MemoryUnit;
import org.apache.accumulo.minicluster.ServerType;
import org.apache.accumulo.miniclusterImpl.MiniAccumuloClusterImpl;
import org.apache.accumulo.miniclusterImpl.MiniAccumuloConfigImpl;

/**
 * Starts the servers, each in a process of its own, and takes commands, one for each connection, on
 * a local port that it writes to the file {@code port}: {@code pids}, {@code kill N}, {@code add},
 * {@code stop}.
 *
 * <p>Arguments: DIRECTORY [tservers=N] [heapMb=N] [rawfs=true|false] [native=DIRECTORY]
 * [property=value]...
 */
public final class Cluster {
  private static final List<ServerType> TYPES =
      List.of(
          ServerType.TABLET_SERVER,
          ServerType.MANAGER,
          ServerType.GARBAGE_COLLECTOR,
          ServerType.ZOOKEEPER);

  private final Path directory;
  private final Map<String, String> site = productDefaults();
  private int tabletServers = 1;
  private int heapMegabytes = 3072;
  private boolean rawFileSystem = true;
  private String nativeLibraries;

  private MiniAccumuloConfigImpl config;
  private MiniAccumuloClusterImpl cluster;

  private Cluster(Path directory, List<String> arguments) {
    this.directory = directory;
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      set(argument.substring(0, equals), argument.substring(equals + 1));
    }
  }

  public static void main(String[] args) throws Exception {
    long start = System.nanoTime();
    Path directory = Path.of(args[0]).toAbsolutePath();
    Cluster cluster = new Cluster(directory, Arrays.asList(args).subList(1, args.length));
    cluster.start();
    long up = System.nanoTime();
    cluster.firstScan();
    long scanned = System.nanoTime();
    System.out.printf(
        "start: servers up after %d ms, first scan after %d ms%n",
        (up - start) / 1_000_000, (scanned - start) / 1_000_000);
    cluster.takeCommands();
    System.exit(0);
  }

  /**
   * The mini cluster sets other values than the product for some; a server for lookups for others.
   */
  private static Map<String, String> productDefaults() {
    Map<String, String> site = new HashMap<>();
    site.put("rpc.bind.addr", "127.0.0.1");
    site.put("tserver.compaction.major.delay", "30s");
    site.put("tserver.wal.max.size", "1G");
    site.put("gc.cycle.delay", "5m");
    site.put("gc.cycle.start", "30s");
    site.put("general.micrometer.enabled", "false");
    site.put("tserver.memory.maps.max", "1G"); // 33 % of the heap
    site.put("tserver.cache.data.size", "768M");
    site.put("tserver.cache.index.size", "256M");
    site.put("tserver.scan.files.open.max", "1000");
    site.put("tserver.server.threads.minimum", "256");
    site.put("tserver.scan.executors.default.threads", "32");
    return site;
  }

  private void set(String key, String value) {
    switch (key) {
      case "tservers" -> tabletServers = Integer.parseInt(value);
      case "heapMb" -> heapMegabytes = Integer.parseInt(value);
      case "rawfs" -> rawFileSystem = Boolean.parseBoolean(value);
      case "native" -> nativeLibraries = value;
      default -> site.put(key, value);
    }
  }

  private void start() throws Exception {
    Path home = Files.createDirectories(directory.resolve("mac"));
    config = new MiniAccumuloConfigImpl(home.toFile(), "secret");
    config.setNumTservers(tabletServers);
    config.setMemory(ServerType.TABLET_SERVER, heapMegabytes, MemoryUnit.MEGABYTE);
    config.setMemory(ServerType.MANAGER, 512, MemoryUnit.MEGABYTE);
    if (nativeLibraries != null) {
      useNativeMap();
    }
    config.setSiteConfig(site);
    cluster = new MiniAccumuloClusterImpl(config);
    Path conf = config.getConfDir().toPath();
    if (rawFileSystem) {
      // The local file system with checksums neither flushes nor syncs its files on request.
      Files.writeString(
          conf.resolve("core-site.xml"),
          "<configuration><property><name>fs.file.impl</name>"
              + "<value>org.apache.hadoop.fs.RawLocalFileSystem</value></property>"
              + "</configuration>\n");
    }
    Files.copy(
        Path.of(System.getProperty("log4j2.configurationFile")), conf.resolve("log4j2.properties"));
    cluster.start();
    Files.writeString(directory.resolve("site"), new TreeMap<>(config.getSiteConfig()) + "\n");
  }

  private void useNativeMap() {
    site.put("tserver.memory.maps.native.enabled", "true");
    config.setNativeLibPaths(nativeLibraries);
    Map<String, String> properties = new HashMap<>(config.getSystemProperties());
    properties.put("accumulo.native.lib.path", nativeLibraries);
    config.setSystemProperties(properties);
  }

  private void firstScan() throws Exception {
    try (AccumuloStore store = new AccumuloStore(config.getClientPropsFile().toPath())) {
      store.scan("accumulo.metadata");
    }
  }

  private void takeCommands() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
      Path incomplete = directory.resolve("port.incomplete");
      Files.writeString(incomplete, socket.getLocalPort() + "\n");
      Files.move(incomplete, directory.resolve("port"));
      boolean running = true;
      while (running) {
        try (Socket connection = socket.accept();
            BufferedReader in =
                new BufferedReader(new InputStreamReader(connection.getInputStream()));
            PrintStream out = new PrintStream(connection.getOutputStream(), true)) {
          String line = in.readLine();
          running = line == null || obey(line.trim().split(" "), out);
        } catch (Exception e) {
          e.printStackTrace();
        }
      }
    }
  }

  /** Returns whether to go on. */
  private boolean obey(String[] words, PrintStream out) throws Exception {
    switch (words[0]) {
      case "pids" -> pids().forEach(out::println);
      case "kill" -> out.println("killed " + kill(Integer.parseInt(words[1])));
      case "add" -> {
        cluster.getClusterControl().start(ServerType.TABLET_SERVER, Map.of(), tabletServers);
        out.println("added");
      }
      case "stop" -> {
        cluster.stop();
        out.println("stopped");
        return false;
      }
      default -> out.println("unknown command " + words[0]);
    }
    return true;
  }

  private List<String> pids() {
    List<String> lines = new ArrayList<>();
    for (ServerType type : TYPES) {
      for (Process process : cluster.getClusterControl().getProcesses(type)) {
        if (process.isAlive()) {
          lines.add(type + " " + process.pid());
        }
      }
    }
    return lines;
  }

  private long kill(int index) throws Exception {
    Process victim =
        cluster.getClusterControl().getProcesses(ServerType.TABLET_SERVER).stream()
            .sorted(Comparator.comparingLong(Process::pid))
            .toList()
            .get(index);
    victim.destroyForcibly().waitFor();
    cluster.getClusterControl().refreshProcesses(ServerType.TABLET_SERVER);
    return victim.pid();
  }
}
