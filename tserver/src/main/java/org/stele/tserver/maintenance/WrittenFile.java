package org.stele.tserver.maintenance;

import org.jspecify.annotations.Nullable;
import org.stele.tserver.files.TabletFile;

/**
 * What the first step of a job has written: a file that is synced, closed and open for reading, and
 * not yet in the tablet's view. Metadata may name it already, if the answer to a commit was lost;
 * so every further attempt has the same file, and it is never deleted.
 *
 * @param input what the file was made from
 * @param file null: nothing was to be written. The record is a user of the open file
 * @param dropped whether versions that the input had are not in the file
 */
public record WrittenFile<I>(I input, @Nullable TabletFile file, boolean dropped) {
  /** Lets the open file go; called once, by {@link TabletJobs}. */
  void release() {
    if (file != null) {
      file.file().release();
    }
  }
}
