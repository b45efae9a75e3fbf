package org.stele.tserver;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.stele.server.process.StartException;

/** The host that clients are told: never a wildcard, which they could not connect to. */
final class AdvertisedAddress {
  private AdvertisedAddress() {}

  /**
   * host:port.
   *
   * @param advertised blank: the bind address, or if that is a wildcard this machine's name
   * @throws StartException if no name is known that other machines could use
   */
  static String of(String advertised, String bind, int port) {
    String host = advertised.isBlank() ? hostOf(bind) : advertised;
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  private static String hostOf(String bind) {
    try {
      if (!InetAddress.getByName(bind).isAnyLocalAddress()) {
        return bind;
      }
      InetAddress self = InetAddress.getLocalHost();
      if (!self.isLoopbackAddress() && !self.isAnyLocalAddress()) {
        return self.getCanonicalHostName();
      }
    } catch (UnknownHostException e) {
      throw new StartException(
          "rpc.bind.address = '"
              + bind
              + "': no address of this machine is known for it ("
              + e.getMessage()
              + "); set rpc.advertise.address",
          e);
    }
    throw new StartException(
        "rpc.bind.address = '"
            + bind
            + "' and this machine's name leads to a loopback address: clients"
            + " elsewhere could not connect; set rpc.advertise.address");
  }
}
