package org.stele.client.rpc;

/** Where a server listens. The name is resolved for each connection anew. */
record ServerAddress(String host, int port) {
  /**
   * @throws IllegalArgumentException if {@code text} is not {@code host:port}; an IPv6 address
   *     stands in brackets
   */
  static ServerAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port;
    try {
      port = Integer.parseInt(text.substring(colon + 1));
    } catch (NumberFormatException e) {
      port = -1;
    }
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IllegalArgumentException("'" + text + "' is not host:port");
    }
    return new ServerAddress(host, port);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
