package org.stele.peers.hbase;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** One name node and one data node of HDFS in this process. Arguments: DIRECTORY PORT. */
public final class MiniDfs {
  private MiniDfs() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    File directory = new File(args[0]);
    Configuration configuration = new Configuration();
    configuration.set("dfs.replication", "1");
    configuration.set("hdfs.minidfs.basedir", directory.getPath());
    configuration.set("dfs.namenode.http-address", "127.0.0.1:0");
    configuration.set("dfs.permissions.enabled", "false");
    configuration.set("hadoop.security.token.service.use_ip", "true");
    new MiniDFSCluster.Builder(configuration, directory)
        .numDataNodes(1)
        .nameNodePort(Integer.parseInt(args[1]))
        .format(true)
        .build()
        .waitActive();
    System.out.println("the file system is up");
    new CountDownLatch(1).await();
  }
}
