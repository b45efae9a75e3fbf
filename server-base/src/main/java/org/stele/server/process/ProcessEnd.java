package org.stele.server.process;

/** How the process of a server that has ended, or cannot end, is ended. Thread-safe. */
interface ProcessEnd {
  /** Ends the process with this code, without hooks. */
  void halt(int exitCode);

  /** Ends a process that was to be gone by now; nothing is waited for. */
  void force();
}
