package org.stele.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.time.Clock;

/** What the parts of the API share. */
final class ClientCore {
  static ClientCore connect(String zooKeeper, ClientOptions options, Clock clock) {
    throw new UnsupportedOperationException();
  }

  ClientOptions options() {
    throw new UnsupportedOperationException();
  }

  String instanceId() {
    throw new UnsupportedOperationException();
  }

  Row lookup(String table, Bytes row, List<Column> columns) {
    throw new UnsupportedOperationException();
  }

  CompletableFuture<Row> lookupAsync(String table, Bytes row, List<Column> columns) {
    throw new UnsupportedOperationException();
  }

  void write(String table, Mutation mutation) {
    throw new UnsupportedOperationException();
  }

  CompletableFuture<Void> writeAsync(String table, Mutation mutation) {
    throw new UnsupportedOperationException();
  }

  String createTable(String name, TableOptions options) {
    throw new UnsupportedOperationException();
  }

  void deleteTable(String name) {
    throw new UnsupportedOperationException();
  }

  List<TableDescription> listTables() {
    throw new UnsupportedOperationException();
  }

  Optional<TableDescription> findTable(String name) {
    throw new UnsupportedOperationException();
  }

  List<TabletInfo> tablets(String name) {
    throw new UnsupportedOperationException();
  }

  void flushTable(String name) {
    throw new UnsupportedOperationException();
  }

  void compactTable(String name) {
    throw new UnsupportedOperationException();
  }

  List<ServerInfo> servers() {
    throw new UnsupportedOperationException();
  }

  ServerStatus serverStatus(String address) {
    throw new UnsupportedOperationException();
  }

  Map<String, String> serverSettings(String address) {
    throw new UnsupportedOperationException();
  }

  Bytes ping(String address, Bytes payload, int replySize) {
    throw new UnsupportedOperationException();
  }

  void applyMetadata(String batchId, List<MetadataCondition> conditions, List<Mutation> mutations) {
    throw new UnsupportedOperationException();
  }

  void openTablets(String address, List<String> tabletIds) {
    throw new UnsupportedOperationException();
  }

  void closeTablet(String address, String tabletId, boolean flush, Duration deadline) {
    throw new UnsupportedOperationException();
  }

  void flushTablet(String address, String tabletId, Duration deadline) {
    throw new UnsupportedOperationException();
  }

  void compactTablet(String address, String tabletId, Duration deadline) {
    throw new UnsupportedOperationException();
  }

  Map<String, String> tabletStates(String address) {
    throw new UnsupportedOperationException();
  }

  void close() {
    throw new UnsupportedOperationException();
  }
}
