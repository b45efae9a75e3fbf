package org.stele.tserver.bench;

import java.nio.ByteBuffer;
import java.util.Map;
import org.stele.core.thrift.ErrorCode;
import org.stele.core.thrift.ServerService;
import org.stele.core.thrift.ServerStatus;
import org.stele.core.thrift.SteleError;

/** The service of a baseline server: the empty call and nothing else. Thread-safe. */
final class LibthriftPing implements ServerService.Iface {
  @Override
  public ByteBuffer ping(ByteBuffer payload, int replySize) {
    return ByteBuffer.allocate(replySize);
  }

  @Override
  public ServerStatus status() throws SteleError {
    throw onlyPing();
  }

  @Override
  public Map<String, String> settings() throws SteleError {
    throw onlyPing();
  }

  private static SteleError onlyPing() {
    return new SteleError(ErrorCode.BAD_REQUEST, "this server has nothing but ping");
  }
}
