package org.stele.tserver.coordinator;

import java.util.Map;

/** The servers that hold their place. Thread-safe; may block. */
@FunctionalInterface
public interface LiveServers {
  /** Addresses by session. */
  Map<String, String> bySession();
}
