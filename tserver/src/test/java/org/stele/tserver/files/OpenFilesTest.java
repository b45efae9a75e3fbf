package org.stele.tserver.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.sortedfile.BlockCache;
import org.stele.core.time.Clock;

class OpenFilesTest {
  @Test
  void aFileThatIsNamedAndMissingIsDamage() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    store.makeDirectory("tables/t1");
    FileCollector collector =
        new FileCollector(store, (table, files) -> {}, Clock.system(), Duration.ZERO);
    OpenFiles files = new OpenFiles(store, BlockCache.NONE, collector);
    CorruptFileException e =
        assertThrows(CorruptFileException.class, () -> files.open("t1", "5e55-1"));
    assertEquals("tables/t1/5e55-1.sf", e.file());
    assertEquals(0, e.offset());
    assertEquals(0, files.count());
  }
}
