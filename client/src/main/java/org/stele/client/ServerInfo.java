package org.stele.client;

/**
 * A server that holds its place in ZooKeeper.
 *
 * @param session of ZooKeeper, in hex: names this run of the server
 * @param address {@code host:port}
 * @param version of the release it runs
 */
public record ServerInfo(String session, String address, String version) {}
