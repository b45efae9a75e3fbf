package org.stele.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.core.data.Bytes;
import org.stele.core.data.DataLimits;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Operations on whole tables. Thread-safe; all wait for their end, up to the client's deadline. A
 * table name has 1 to 255 characters of {@code A-Z a-z 0-9 _ . -}.
 *
 * <p>An operation whose answer is lost is sent again. So {@code create} can fail with TABLE_EXISTS
 * because of its own first attempt; the message says when that is possible.
 */
public final class Tables {
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9_.-]{1," + DataLimits.MAX_TABLE_NAME_LENGTH + "}");

  private final ClientCore core;
  private final TableCatalog catalog;

  Tables(ClientCore core) {
    this.core = core;
    this.catalog = new TableCatalog(core);
  }

  /** Makes a table with one tablet and default settings. */
  public void create(String name) {
    create(name, TableOptions.defaults());
  }

  /**
   * Makes a table; when this returns, every tablet of it is served.
   *
   * @return its id
   * @throws SteleException TABLE_EXISTS, BAD_REQUEST for a name or setting that is not possible
   */
  public String create(String name, TableOptions options) {
    checked(name);
    return onAnyServer(
        "creation of table " + name,
        true,
        (server, attempts) -> {
          try {
            return core.tableCalls()
                .create(
                    server,
                    name,
                    options.splits(),
                    options.settings(),
                    ClientCore.longLimits(attempts));
          } catch (AttemptException e) {
            throw e.code() == ErrorCode.TABLE_EXISTS && attempts.isOutcomeUnknown()
                ? e.at("it may have been made by an earlier attempt")
                : e;
          }
        });
  }

  /**
   * Deletes a table and all it holds.
   *
   * @throws SteleException UNKNOWN_TABLE if there is none
   */
  public void delete(String name) {
    checked(name);
    onAnyServer(
        "deletion of table " + name,
        true,
        (server, attempts) -> {
          try {
            core.tableCalls().delete(server, name, ClientCore.longLimits(attempts));
          } catch (AttemptException e) {
            if (e.code() != ErrorCode.UNKNOWN_TABLE || !attempts.isOutcomeUnknown()) {
              throw e;
            }
          }
          return name;
        });
    String id = core.locations().cachedTableId(name);
    if (id != null) {
      core.locations().forgetTable(name, id);
    }
  }

  /** All tables but the metadata table, by name. */
  public List<TableDescription> list() {
    return catalog.list();
  }

  public boolean exists(String name) {
    return catalog.find(checked(name)).isPresent();
  }

  /**
   * @throws SteleException UNKNOWN_TABLE if there is none
   */
  public TableDescription describe(String name) {
    Optional<TableDescription> table = catalog.find(checked(name));
    return table.orElseThrow(
        () -> new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table " + name));
  }

  /** The end rows of all tablets but the last, ascending. */
  public List<Bytes> splits(String name) {
    return catalog.tablets(checked(name)).stream()
        .map(tablet -> tablet.extent().endRow())
        .<Bytes>mapMulti(
            (endRow, downstream) -> {
              if (endRow != null) {
                downstream.accept(endRow);
              }
            })
        .toList();
  }

  /** The tablets of a table in order, as the metadata has them now. */
  public List<TabletInfo> tablets(String name) {
    return catalog.tablets(checked(name));
  }

  /** Waits until what was written before is in sorted files. */
  public void flush(String name) {
    checked(name);
    onAnyServer(
        "flush of table " + name,
        false,
        (server, attempts) -> {
          core.tableCalls().flush(server, name, ClientCore.longLimits(attempts));
          return name;
        });
  }

  /** Waits until every tablet has at most one file, without deleted or surplus cells. */
  public void compact(String name) {
    checked(name);
    onAnyServer(
        "compaction of table " + name,
        false,
        (server, attempts) -> {
          core.tableCalls().compact(server, name, ClientCore.longLimits(attempts));
          return name;
        });
  }

  /** An operation that any living server takes; a failed attempt is followed by one at another. */
  private <R> R onAnyServer(String what, boolean changes, ServerAttempt<R> attempt) {
    List<String> failed = new ArrayList<>();
    return core.run(
        () -> what,
        changes,
        core.deadlineFromNow(),
        attempts -> {
          String server = core.livingServers().any(failed, attempts);
          try {
            return attempt.make(server, attempts);
          } catch (AttemptException e) {
            failed.add(server);
            throw e;
          }
        });
  }

  static String checked(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new SteleException(
          ErrorCode.BAD_REQUEST,
          "'"
              + name
              + "' is no table name: 1 to "
              + DataLimits.MAX_TABLE_NAME_LENGTH
              + " of A-Z a-z 0-9 _ . -");
    }
    return name;
  }

  @FunctionalInterface
  private interface ServerAttempt<R> {
    R make(String server, Attempts attempts) throws InterruptedException;
  }
}
