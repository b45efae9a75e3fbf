package org.stele.core.data;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** A column family, or one column of it if there is a qualifier. */
public record Column(Bytes family, @Nullable Bytes qualifier) {
  public Column {
    requireNonNull(family, "family is null");
  }

  public static Column family(String family) {
    return new Column(Bytes.of(family), null);
  }

  public static Column of(String family, String qualifier) {
    return new Column(Bytes.of(family), Bytes.of(qualifier));
  }

  @Override
  public String toString() {
    return qualifier == null ? family.toString() : family + ":" + qualifier;
  }
}
