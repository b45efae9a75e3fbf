package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.data.Update;

class BenchDataTest {
  @Test
  void lookupRowsAreThoseOfTheTest() {
    LookupData data = new LookupData(1000, 1);
    Set<Bytes> rows = new HashSet<>();
    for (int i = 0; i < data.size(); i++) {
      rows.add(data.row(i));
      Mutation mutation = data.mutation(i);
      assertEquals(data.row(i), mutation.row());
      assertTrue(mutation.row().toUtf8().matches("[0-9a-f]{16}"), mutation.row()::toString);
      assertEquals(4, mutation.updates().stream().map(Update::qualifier).distinct().count());
      for (Update update : mutation.updates()) {
        assertEquals(Bytes.of("fam1"), update.family());
        assertTrue(update.qualifier().toUtf8().matches("[0-9a-f]{3}"));
        assertTrue(update.value().toUtf8().matches("[0-9a-f]{16}"));
      }
    }
    assertEquals(1000, rows.size());
  }

  @Test
  void sameSeedGivesSameRows() {
    LookupData one = new LookupData(10, 5);
    LookupData same = new LookupData(10, 5);
    LookupData other = new LookupData(10, 6);
    for (int i = 0; i < 10; i++) {
      assertEquals(one.row(i), same.row(i));
      assertEquals(
          one.mutation(i).updates().get(3).value(), same.mutation(i).updates().get(3).value());
      assertNotEquals(one.row(i), other.row(i));
    }
  }

  @Test
  void tableIsCutAtEachHexDigit() {
    List<Bytes> splits = LookupData.splits();
    assertEquals(15, splits.size());
    assertEquals(Bytes.of("1"), splits.get(0));
    assertEquals(Bytes.of("f"), splits.get(14));
  }

  @Test
  void wrongAnswersAreFound() {
    Bytes row = Bytes.of("r");
    LookupBench.requireHit(new Row(row, cells(row, 4)), row);
    assertThrows(
        CommandFailure.class, () -> LookupBench.requireHit(new Row(row, cells(row, 3)), row));
    assertThrows(
        CommandFailure.class,
        () -> LookupBench.requireHit(new Row(row, cells(Bytes.of("other"), 4)), row));
  }

  @Test
  void evaluationRowsAreInOrderOfTheirNumbers() {
    EvaluationData data = new EvaluationData(1000, 100, 1);
    assertEquals(Bytes.of("000000000000"), EvaluationData.row(0));
    assertEquals(Bytes.of("000000000042"), EvaluationData.row(42));
    assertEquals(Bytes.of("002147483647"), EvaluationData.row(Integer.MAX_VALUE));
    SplittableRandom random = new SplittableRandom(1);
    Mutation mutation = data.mutation(7, random);
    assertEquals(100, mutation.updates().get(0).value().length());
    assertNotEquals(
        mutation.updates().get(0).value(), data.mutation(7, random).updates().get(0).value());
  }

  @Test
  void tableCellsAreAlignedAndUnknownIsADash() {
    ResultTable.Column column = new ResultTable.Column("x", "a long title", 2);
    assertEquals("        1.50", column.cell(1.5));
    assertEquals("           -", column.cell(null));
    assertEquals("          12", column.cell(12));
  }

  private static List<Cell> cells(Bytes row, int count) {
    return java.util.stream.IntStream.range(0, count)
        .mapToObj(i -> new Cell(row, Bytes.of("f"), Bytes.of("q" + i), Bytes.EMPTY, 1, Bytes.EMPTY))
        .toList();
  }
}
