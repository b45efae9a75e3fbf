package org.stele.server.metadata;

import static org.stele.client.location.MetadataSchema.SETTINGS;
import static org.stele.client.location.MetadataSchema.TABLE_NAME_COLUMN;
import static org.stele.client.location.MetadataSchema.TABLE_STATE;

import java.util.Map;
import java.util.TreeMap;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Row;

/**
 * A table as the metadata has it.
 *
 * @param settings what the table was made with, and keeps
 */
public record TableRecord(String id, String name, State state, Map<String, String> settings) {
  public TableRecord {
    settings = Map.copyOf(settings);
  }

  /** What is to become of the table. */
  @SuppressWarnings("ImmutableEnumChecker") // byte strings are immutable
  public enum State {
    ONLINE("online"),
    /** Its name is free already; its tablets are closed and its files go. */
    DELETING("deleting");

    private final Bytes text;

    State(String text) {
      this.text = Bytes.of(text);
    }

    private static State parse(Bytes text) {
      for (State state : values()) {
        if (state.text.equals(text)) {
          return state;
        }
      }
      throw new MalformedBytesException("unknown state of a table: " + text);
    }
  }

  static TableRecord of(Row row) {
    String id = MetadataSchema.tableIdOf(row.key());
    Bytes name = Columns.require(row, TABLE_NAME_COLUMN);
    Bytes state = Columns.require(row, TABLE_STATE);
    Map<String, String> settings = new TreeMap<>();
    for (Cell cell : row.cells()) {
      if (cell.family().equals(SETTINGS)) {
        settings.put(cell.qualifier().toUtf8(), cell.value().toUtf8());
      }
    }
    return new TableRecord(id, name.toUtf8(), State.parse(state), settings);
  }

  /** Adds the columns of the table's row to a batch. */
  void write(MetadataBatch batch) {
    Bytes row = MetadataSchema.tableRow(id);
    batch.put(row, TABLE_NAME_COLUMN, Bytes.of(name));
    batch.put(row, TABLE_STATE, state.text);
    settings.forEach(
        (setting, text) -> batch.put(row, new Column(SETTINGS, Bytes.of(setting)), Bytes.of(text)));
  }

  static void writeState(MetadataBatch batch, String id, State state) {
    batch.put(MetadataSchema.tableRow(id), TABLE_STATE, state.text);
  }

  static void requireState(MetadataBatch batch, String id, State state) {
    batch.require(MetadataSchema.tableRow(id), TABLE_STATE, state.text);
  }
}
