package org.stele.tserver.tablet;

import org.stele.core.time.Clock;
import org.stele.tserver.files.OpenFiles;
import org.stele.tserver.wal.WriteAheadLog;
import org.stele.tserver.write.MemoryBudget;

/**
 * What a tablet needs of its server.
 *
 * @param catalog where the owner's changes of its row go
 * @param log that its writes go to; the metadata tablet has one of its own
 * @param memory of the memtables of all tablets of its class: users' or the system's
 * @param memtableBytes a memtable of this size is reported to {@code events}
 */
public record TabletEnvironment(
    Clock clock,
    OpenFiles files,
    FileCatalog catalog,
    WriteAheadLog log,
    MemoryBudget memory,
    long memtableBytes,
    TabletEvents events) {}
