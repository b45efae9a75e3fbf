package org.stele.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.ServerRecord;

/** The servers that hold their place in ZooKeeper now. Methods make one attempt. Thread-safe. */
final class LivingServers {
  private final Coordination coordination;

  LivingServers(Coordination coordination) {
    this.coordination = coordination;
  }

  List<ServerInfo> read(Attempts attempts) throws InterruptedException {
    try {
      List<ServerInfo> servers = new ArrayList<>();
      for (Map.Entry<String, ServerRecord> server :
          coordination.servers(Duration.ofNanos(Math.max(1, attempts.leftNanos()))).entrySet()) {
        servers.add(
            new ServerInfo(
                server.getKey(), server.getValue().address(), server.getValue().version()));
      }
      return servers;
    } catch (CoordinationException e) {
      if (e.reason() == CoordinationException.Reason.INTERRUPTED) {
        Thread.interrupted();
        throw new InterruptedException("interrupted reading the servers");
      }
      throw AttemptException.notSent(
          "ZooKeeper " + coordination.connectString(), String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * The address of any server, of those that are not in {@code failed} if there are such.
   *
   * @param failed emptied when all have failed
   */
  String any(List<String> failed, Attempts attempts) throws InterruptedException {
    List<String> living = new ArrayList<>();
    for (ServerInfo server : read(attempts)) {
      living.add(server.address());
    }
    if (living.isEmpty()) {
      throw AttemptException.notSent("(none)", "the instance has no server now", null);
    }
    List<String> untried = new ArrayList<>(living);
    untried.removeAll(failed);
    if (untried.isEmpty()) {
      failed.clear();
      untried = living;
    }
    return untried.get(ThreadLocalRandom.current().nextInt(untried.size()));
  }
}
