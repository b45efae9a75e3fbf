package org.stele.peers.hbase;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.stele.peers.harness.Servers;

/** The one process of a stand-alone HBase: master, region server and ZooKeeper. */
final class ServerProcess implements Servers {
  private final Path directory;

  ServerProcess(Path directory) {
    this.directory = directory;
  }

  @Override
  public List<Named> all() throws IOException {
    return List.of(new Named("SERVER", pid()));
  }

  @Override
  public List<Long> serving() throws IOException {
    return List.of(pid());
  }

  @Override
  public void crash() throws Exception {
    ProcessHandle server = ProcessHandle.of(pid()).orElseThrow();
    server.destroyForcibly();
    server.onExit().get();
  }

  @Override
  public void replace() throws Exception {
    String script = directory.resolve("run.sh").toString();
    int status = new ProcessBuilder(script, "launch").inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException(script + " launch ended with " + status);
    }
  }

  private long pid() throws IOException {
    return Long.parseLong(Files.readString(directory.resolve("run/pid")).trim());
  }
}
