package org.stele.client.cli.data;

import java.util.List;
import java.util.Map;
import org.stele.client.cli.Session;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** Creates a table for commands that bring their own data. */
final class TableCreation {
  private TableCreation() {}

  static void createIfMissing(Session session, String table) {
    if (session.tables().stream().anyMatch(known -> known.name().equals(table))) {
      return;
    }
    try {
      session.createTable(table, List.of(), Map.of());
    } catch (SteleException e) {
      if (e.code() != ErrorCode.TABLE_EXISTS) {
        throw e;
      }
    }
  }
}
