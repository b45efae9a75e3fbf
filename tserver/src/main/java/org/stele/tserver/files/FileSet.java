package org.stele.tserver.files;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The files of a tablet in order of their sequences, the oldest first. Immutable. Who holds a set
 * that others read calls {@link #retain} before, {@link #release} after.
 */
public final class FileSet {
  public static final FileSet EMPTY = new FileSet(List.of());

  private static final Comparator<TabletFile> BY_SEQUENCE =
      (a, b) -> {
        int order =
            Long.compareUnsigned(a.reference().lastSequence(), b.reference().lastSequence());
        return order != 0 ? order : a.reference().fileId().compareTo(b.reference().fileId());
      };

  private final List<TabletFile> files;

  private FileSet(List<TabletFile> files) {
    this.files = files;
  }

  public static FileSet of(Collection<TabletFile> files) {
    List<TabletFile> sorted = new ArrayList<>(files);
    sorted.sort(BY_SEQUENCE);
    return new FileSet(List.copyOf(sorted));
  }

  /** Oldest first. */
  public List<TabletFile> files() {
    return files;
  }

  public List<FileReference> references() {
    return files.stream().map(TabletFile::reference).toList();
  }

  public int size() {
    return files.size();
  }

  public boolean isEmpty() {
    return files.isEmpty();
  }

  public long bytes() {
    return files.stream().mapToLong(file -> file.reference().size()).sum();
  }

  /** This set with one more file. */
  public FileSet with(TabletFile added) {
    return replace(List.of(), added);
  }

  /**
   * This set with {@code added} in place of {@code removed}.
   *
   * @throws IllegalStateException if one of {@code removed} is not in the set
   */
  public FileSet replace(List<TabletFile> removed, @Nullable TabletFile added) {
    List<TabletFile> next = new ArrayList<>(files);
    for (TabletFile file : removed) {
      if (!next.remove(file)) {
        throw new IllegalStateException("file " + file.file() + " is not of this tablet");
      }
    }
    if (added != null) {
      next.add(added);
    }
    return of(next);
  }

  public void retain() {
    files.forEach(file -> file.file().retain());
  }

  public void release() {
    files.forEach(file -> file.file().release());
  }

  @Override
  public String toString() {
    return files.toString();
  }

  /** The newest sequence in any file; 0 if there is none. */
  public long lastSequence() {
    return files.stream()
        .map(file -> file.reference().lastSequence())
        .max(Comparator.comparing(sequence -> sequence, Long::compareUnsigned))
        .orElse(0L);
  }
}
