package org.stele.tserver.service;

import java.util.Map;

/** What the server knows of itself. Thread-safe, never blocks. */
public interface ServerSelf {
  String instanceId();

  String session();

  /** host:port as clients are told. */
  String address();

  String version();

  /** Empty: it is ready. */
  String notReadyReason();

  /** Milliseconds since it started. */
  long upMillis();

  int tablets();

  Map<String, Long> counters();

  /** Effective settings, secrets masked. */
  Map<String, String> settings();

  /** What a table gets that is made by way of this server and is given nothing else. */
  Map<String, String> tableDefaults();
}
