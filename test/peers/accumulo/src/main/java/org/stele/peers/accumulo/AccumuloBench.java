package org.stele.peers.accumulo;

import java.nio.file.Path;
import java.util.Arrays;
import org.stele.peers.harness.Harness;
import org.stele.peers.harness.Options;

/** The client process. Arguments: DIRECTORY SCENARIO [key=value]... */
public final class AccumuloBench {
  private AccumuloBench() {}

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    Options options = new Options(Arrays.asList(args).subList(2, args.length));
    Path properties = directory.resolve("mac/conf/accumulo-client.properties");
    try (AccumuloStore store = new AccumuloStore(properties)) {
      Harness.run("accumulo", store, new ClusterControl(directory), args[1], options);
    }
    System.exit(0);
  }
}
