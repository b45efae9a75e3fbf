package org.stele.server.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CloserTest {
  @Test
  void closesInReverseAndGoesOnAfterFailures() {
    List<String> closed = new ArrayList<>();
    Closer closer = new Closer();
    closer.add("first", () -> closed.add("first"));
    closer.add(
        "second",
        () -> {
          closed.add("second");
          throw new IOException("disk");
        });
    closer.add(
        "third",
        () -> {
          closed.add("third");
          throw new IllegalStateException("bug");
        });
    closer.add(
        "fourth",
        () -> {
          closed.add("fourth");
          throw new OutOfMemoryError("no thread");
        });
    IOException failure = assertThrows(IOException.class, closer::close);
    assertEquals(List.of("fourth", "third", "second", "first"), closed);
    assertEquals("could not close fourth: no thread", failure.getMessage());
    assertEquals("bug", failure.getSuppressed()[0].getMessage());
    assertEquals("disk", failure.getSuppressed()[1].getMessage());
    closed.clear();
    assertEquals(List.of(), closed);
  }
}
