package org.stele.core.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Mutation;

/** The worked examples of docs/formats/wire.md are what the code writes and reads. */
class PackedFormatTest {
  private static final List<Cell> CELLS =
      List.of(
          cell("ada", "name", "first", 1000, "Ada"),
          cell("ada", "name", "full", 1000, "Ada L"),
          cell("adam", "name", "first", 998, ""));

  private static Cell cell(String row, String family, String qualifier, long time, String value) {
    return new Cell(
        Bytes.of(row), Bytes.of(family), Bytes.of(qualifier), Bytes.EMPTY, time, Bytes.of(value));
  }

  private static final List<Mutation> MUTATIONS =
      List.of(
          Mutation.of("ada")
              .put("name", "full", "Ada L")
              .deleteColumn(Bytes.of("name"), Bytes.of("nick"), Bytes.EMPTY, 1000L),
          Mutation.of("bob").deleteRow());

  /** The bytes of the code block behind the line {@code <!-- NAME -->}: hex up to {@code |}. */
  private static byte[] documented(String name) throws IOException {
    Path page =
        Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .resolve("../docs/formats/wire.md");
    String text = Files.readString(page);
    int mark = text.indexOf("<!-- " + name + " -->");
    int start = text.indexOf("```", mark);
    String block = text.substring(text.indexOf('\n', start), text.indexOf("```", start + 3));
    StringBuilder hex = new StringBuilder();
    block.lines().forEach(line -> hex.append(line.split("\\|")[0].replace(" ", "")));
    return HexFormat.of().parseHex(hex);
  }

  @Test
  void packedCellsAreAsDocumented() throws IOException {
    PackedCellsWriter out = new PackedCellsWriter();
    for (Cell cell : CELLS) {
      byte[] key =
          KeyCodec.encode(
              cell.row(),
              cell.family(),
              cell.qualifier(),
              cell.visibility(),
              cell.timestamp(),
              7,
              CellType.PUT);
      byte[] value = cell.value().toArray();
      out.add(key, 0, key.length, value, 0, value.length);
    }
    byte[] documented = documented("packed cells");
    assertEquals(
        HexFormat.of().formatHex(out.array(), 0, out.length()),
        HexFormat.of().formatHex(documented));
    assertEquals(CELLS, PackedCells.decode(documented, 0, documented.length));
  }

  @Test
  void packedMutationsAreAsDocumented() throws IOException {
    byte[] documented = documented("packed mutations");
    assertEquals(
        HexFormat.of().formatHex(PackedMutations.encode(MUTATIONS)),
        HexFormat.of().formatHex(documented));
    List<Mutation> decoded = PackedMutations.decode(documented, 0, documented.length);
    assertEquals(MUTATIONS.size(), decoded.size());
    for (int i = 0; i < decoded.size(); i++) {
      assertEquals(MUTATIONS.get(i).row(), decoded.get(i).row());
      assertEquals(MUTATIONS.get(i).updates(), decoded.get(i).updates());
    }
  }
}
