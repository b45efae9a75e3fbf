package org.stele.client.rpc;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Finds the address of a host's name. Asked for each connection anew; may block. */
@FunctionalInterface
interface NameResolver {
  InetAddress resolve(String host) throws UnknownHostException;

  /** The system's, with the JVM's own memory of names (docs/errors.md). */
  static NameResolver system() {
    return InetAddress::getByName;
  }
}
