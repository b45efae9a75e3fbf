package org.stele.tserver.read;

import java.util.ArrayList;
import java.util.List;
import org.stele.core.cursor.BoundedCursor;
import org.stele.core.cursor.CellCursor;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.tablet.TabletView;

/**
 * Makes the cursors over the memtables and files of a view, and knows whether one of them may have
 * deletes of rows or families. Used by one thread; the view must stay open.
 */
public final class ViewCursors {
  private final List<CellCursor> cursors;
  private boolean scopeDeletes;

  private ViewCursors(int sources) {
    cursors = new ArrayList<>(sources);
  }

  /** Cursors over all of the view. */
  public static ViewCursors all(TabletView view, boolean cacheBlocks) {
    ViewCursors all = new ViewCursors(view.memtables().length + view.files().size());
    all.addMemtables(view);
    for (TabletFile file : view.files()) {
      all.addFile(file, cacheBlocks);
    }
    return all;
  }

  private void addMemtables(TabletView view) {
    for (Memtable memtable : view.memtables()) {
      if (!memtable.isEmpty()) {
        cursors.add(memtable.cursor());
        scopeDeletes |= memtable.hasScopeDeletes();
      }
    }
  }

  private void addFile(TabletFile file, boolean cacheBlocks) {
    CellCursor cursor = file.reader().cursor(cacheBlocks);
    byte[] lower = file.lowerKey();
    cursors.add(
        file.reference().isClipped()
            ? new BoundedCursor(cursor, lower == null ? new byte[0] : lower, file.upperKey())
            : cursor);
    scopeDeletes |= file.reader().properties().hasScopeDeletes();
  }

  public List<CellCursor> cursors() {
    return cursors;
  }

  /** False: no source has, or at the view's sequence had, a delete of a row or family. */
  public boolean hasScopeDeletes() {
    return scopeDeletes;
  }
}
