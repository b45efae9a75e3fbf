package org.stele.test.arch;

import java.util.List;

/**
 * Outside technology and the packages that may touch it: one per module, so that it can be
 * replaced, and so that its types do not leak into code about tablets and cells.
 *
 * <p>To use one in a new package, add the package here, if it is the only one of its module.
 */
record Technology(String name, List<String> packages, List<String> allowed) {
  static final List<Technology> TABLE =
      List.of(
          row(
              "Apache Thrift",
              of("org.apache.thrift.."),
              of(
                  "org.stele.core.thrift..",
                  "org.stele.core.wire..",
                  "org.stele.client.rpc..",
                  "org.stele.server.rpc..",
                  "org.stele.tserver.service..",
                  "org.stele.tserver.bench..")), // measures libthrift's servers beside ours
          row(
              "ZooKeeper and Curator",
              of("org.apache.zookeeper..", "org.apache.curator.."),
              of("org.stele.core.coordination..", "org.stele.server.zookeeper..")),
          row(
              "compression libraries",
              of("net.jpountz..", "com.github.luben..", "org.xerial.snappy.."),
              of("org.stele.core.compression..")),
          row("Hadoop", of("org.apache.hadoop.."), of("org.stele.server.hadoop..")),
          row("Micrometer", of("io.micrometer.."), of("org.stele.server.metrics..")),
          row("Caffeine", of("com.github.benmanes.caffeine.."), of("org.stele.tserver.cache..")),
          row(
              "HdrHistogram",
              of("org.HdrHistogram.."),
              of("org.stele.server.metrics..", "org.stele.tserver.bench..")),
          row(
              "picocli and JLine",
              of("picocli..", "org.jline.."),
              of("org.stele.client.cli..", "org.stele.tserver.cli..", "org.stele.tserver.bench..")),
          row("a logging backend", of("org.apache.logging.."), of()));

  private static Technology row(String name, List<String> packages, List<String> allowed) {
    return new Technology(name, packages, allowed);
  }

  private static List<String> of(String... patterns) {
    return List.of(patterns);
  }
}
