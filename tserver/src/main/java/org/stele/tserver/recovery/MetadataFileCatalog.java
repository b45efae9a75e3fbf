package org.stele.tserver.recovery;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.server.metadata.FileRecord;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.files.FileReference;
import org.stele.tserver.tablet.FileCatalog;
import org.stele.tserver.tablet.LostTabletException;
import org.stele.tserver.tablet.TabletIdentity;

/**
 * Writes what tablets of this server change of their rows to the metadata. Thread-safe; every
 * method may block, as long as the metadata's client has patience.
 */
public final class MetadataFileCatalog implements FileCatalog {
  private final MetadataStore store;
  private final OwnedTablets owned;
  private final Clock clock;

  public MetadataFileCatalog(MetadataStore store, OwnedTablets owned, Clock clock) {
    this.store = store;
    this.owned = owned;
    this.clock = clock;
  }

  @Override
  public void commitFlush(
      TabletIdentity tablet, @Nullable FileReference added, long flushedSequence, long timeFloor)
      throws IOException {
    OwnedTablet owner = owner(tablet);
    boolean coversReplayed = Long.compareUnsigned(flushedSequence, owner.replayedSequence()) >= 0;
    TabletRecord record = owner.record();
    change(
        tablet,
        () ->
            store.commitFlush(
                coversReplayed ? record : record.withLogs(List.of()),
                added == null ? null : record(added),
                flushedSequence,
                timeFloor));
    if (coversReplayed) {
      owner.logsAreNotNeeded();
    }
  }

  @Override
  public void commitCompaction(
      TabletIdentity tablet, List<FileReference> removed, @Nullable FileReference added)
      throws IOException {
    TabletRecord record = owner(tablet).record();
    change(
        tablet,
        () ->
            store.commitCompaction(
                record,
                removed.stream().map(FileReference::fileId).toList(),
                added == null ? null : record(added),
                clock.wallMillis()));
  }

  @Override
  public void commitDeletion(String tableId, List<String> fileIds) throws IOException {
    try {
      store.commitDeletion(tableId, fileIds);
    } catch (SteleException e) {
      throw new IOException(
          "the metadata did not take that files of table " + tableId + " are deleted", e);
    }
  }

  private OwnedTablet owner(TabletIdentity tablet) throws LostTabletException {
    OwnedTablet owner = owned.get(tablet.tabletId());
    if (owner == null || owner.record().epoch() != tablet.epoch()) {
      throw new LostTabletException(tablet + " is no longer this server's");
    }
    return owner;
  }

  private static void change(TabletIdentity tablet, Runnable change) throws IOException {
    try {
      change.run();
    } catch (SteleException e) {
      if (e.code() == ErrorCode.CONSTRAINT) {
        LostTabletException lost =
            new LostTabletException("the metadata names another owner of " + tablet);
        lost.initCause(e);
        throw lost;
      }
      throw new IOException("the metadata did not take a change of " + tablet, e);
    }
  }

  private static FileRecord record(FileReference file) {
    return new FileRecord(
        file.fileId(),
        file.size(),
        file.entries(),
        file.firstSequence(),
        file.lastSequence(),
        file.previousEndRow(),
        file.endRow());
  }

  static FileReference reference(FileRecord file) {
    return new FileReference(
        file.fileId(),
        file.size(),
        file.entries(),
        file.firstSequence(),
        file.lastSequence(),
        file.previousEndRow(),
        file.endRow());
  }
}
