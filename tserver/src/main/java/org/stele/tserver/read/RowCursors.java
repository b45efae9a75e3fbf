package org.stele.tserver.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.BoundedCursor;
import org.stele.core.cursor.CellCursor;
import org.stele.core.cursor.MergingCursor;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.data.Column;
import org.stele.core.settings.StandardSettings;
import org.stele.core.sortedfile.SortedFileCursor;
import org.stele.core.sortedfile.SortedFileReader;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.memtable.Memtable.MemtableCursor;
import org.stele.tserver.tablet.TabletView;

/**
 * The cursors of point lookups, made once and opened for one row after the other, so that a lookup
 * allocates nothing that grows with the number of files. Owned and used by one thread.
 *
 * <p>Between two rows it holds cursors without memtables, files or blocks, and no large buffer.
 */
public final class RowCursors implements AutoCloseable {
  /** Cursors of a kind that are kept for the next row; more are made anew when needed. */
  private static final int KEPT_CURSORS = 64;

  private final Pool<MemtableCursor> memtableCursors = new Pool<>(MemtableCursor::new);
  private final Pool<SortedFileCursor> fileCursors = new Pool<>(SortedFileCursor::new);
  private final List<CellCursor> sources = new ArrayList<>();
  private final MergingCursor merged = new MergingCursor();
  private final VersionCursor visible = new VersionCursor();

  /** Cursors of a kind, of which the first so many are in use. */
  private static final class Pool<C extends CellCursor> {
    private final Supplier<C> maker;
    private final List<C> cursors = new ArrayList<>();
    private int used;

    Pool(Supplier<C> maker) {
      this.maker = maker;
    }

    C take() {
      if (used == cursors.size()) {
        cursors.add(maker.get());
      }
      return cursors.get(used++);
    }

    void takeBackAll() {
      for (int i = 0; i < used; i++) {
        cursors.get(i).close();
      }
      used = 0;
      if (cursors.size() > KEPT_CURSORS) {
        cursors.subList(KEPT_CURSORS, cursors.size()).clear();
      }
    }
  }

  /**
   * What a reader of the view sees of a row, in all that may have it: of the files only those whose
   * range and filter do not rule it out. To be closed before the view.
   *
   * @param key begins with the encoded row
   * @param rowPartLength of the encoded row, with its end
   * @param columns empty: all
   * @return null if nothing has the row
   */
  public @Nullable VersionCursor open(
      TabletView view, byte[] key, int rowPartLength, List<Column> columns) throws IOException {
    boolean scopeDeletes = false;
    for (Memtable memtable : view.memtables()) {
      if (!memtable.isEmpty()) {
        sources.add(memtableCursors.take().reset(memtable));
        scopeDeletes |= memtable.hasScopeDeletes();
      }
    }
    List<TabletFile> files = view.files();
    if (!files.isEmpty()) {
      long hash = SortedFileReader.rowHash(key, rowPartLength);
      for (int i = 0; i < files.size(); i++) {
        TabletFile file = files.get(i);
        SortedFileReader reader = file.reader();
        if (reader.mayContainRow(key, rowPartLength, hash)) {
          sources.add(clipped(file, fileCursors.take().reset(reader, true)));
          scopeDeletes |= reader.properties().hasScopeDeletes();
        }
      }
    }
    if (sources.isEmpty()) {
      return null;
    }
    return visible.reset(
        sources.size() == 1 ? sources.get(0) : merged.reset(sources),
        view.readSequence(),
        view.tablet().settings().get(StandardSettings.TABLE_VERSIONS),
        columns,
        scopeDeletes);
  }

  private static CellCursor clipped(TabletFile file, SortedFileCursor cursor) {
    byte[] lower = file.lowerKey();
    return file.reference().isClipped()
        ? new BoundedCursor(cursor, lower == null ? new byte[0] : lower, file.upperKey())
        : cursor;
  }

  /** Lets go of all that the last row was read from. */
  @Override
  public void close() {
    visible.close();
    sources.clear();
    memtableCursors.takeBackAll();
    fileCursors.takeBackAll();
  }
}
