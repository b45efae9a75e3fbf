package org.stele.peers.accumulo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.stele.peers.harness.Servers;

/** Asks the process that started the cluster; see {@link Cluster} for the commands. */
final class ClusterControl implements Servers {
  private final Path directory;

  ClusterControl(Path directory) {
    this.directory = directory;
  }

  @Override
  public List<Named> all() throws IOException {
    return ask("pids").stream()
        .map(line -> line.split(" "))
        .map(words -> new Named(words[0], Long.parseLong(words[1])))
        .toList();
  }

  @Override
  public List<Long> serving() throws IOException {
    return all().stream()
        .filter(server -> server.role().equals("TABLET_SERVER"))
        .map(Named::pid)
        .toList();
  }

  @Override
  public void crash() throws IOException {
    ask("kill 0");
  }

  @Override
  public void replace() throws IOException {
    ask("add");
  }

  private List<String> ask(String command) throws IOException {
    int port = Integer.parseInt(Files.readString(directory.resolve("port")).trim());
    try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port);
        PrintStream out = new PrintStream(socket.getOutputStream(), true);
        BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()))) {
      out.println(command);
      return in.lines().toList();
    }
  }
}
