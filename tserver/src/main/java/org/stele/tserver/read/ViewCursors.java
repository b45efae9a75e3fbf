package org.stele.tserver.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.stele.core.cursor.BoundedCursor;
import org.stele.core.cursor.CellCursor;
import org.stele.core.sortedfile.SortedFileReader;
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

  /**
   * Cursors over what may have a row: of the files only those whose range and filter do not rule it
   * out.
   *
   * @param key begins with the encoded row
   * @param rowPartLength of the encoded row, with its end
   */
  public static ViewCursors ofRow(TabletView view, byte[] key, int rowPartLength)
      throws IOException {
    ViewCursors ofRow = new ViewCursors(2);
    ofRow.addMemtables(view);
    List<TabletFile> files = view.files();
    if (!files.isEmpty()) {
      long hash = SortedFileReader.rowHash(key, rowPartLength);
      for (int i = 0; i < files.size(); i++) {
        TabletFile file = files.get(i);
        if (file.reader().mayContainRow(key, rowPartLength, hash)) {
          ofRow.addFile(file, true);
        }
      }
    }
    return ofRow;
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

  public boolean isEmpty() {
    return cursors.isEmpty();
  }

  public List<CellCursor> cursors() {
    return cursors;
  }

  /** False: no source has, or at the view's sequence had, a delete of a row or family. */
  public boolean hasScopeDeletes() {
    return scopeDeletes;
  }
}
