package org.stele.peers.harness;

import java.util.List;

/** The server processes of the product that is measured. */
public interface Servers {

  record Named(String role, long pid) {}

  List<Named> all() throws Exception;

  /** Those that answer lookups and writes; what they use is reported as the server's. */
  List<Long> serving() throws Exception;

  /** Ends a serving process as a crash would. */
  void crash() throws Exception;

  /** Starts another serving process in the place of the crashed one; does not wait for it. */
  void replace() throws Exception;
}
