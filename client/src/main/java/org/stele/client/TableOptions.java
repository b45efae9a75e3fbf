package org.stele.client;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.stele.core.data.Bytes;

/**
 * What a new table is like.
 *
 * @param splits the end rows of its first tablets, ascending and without duplicates; the last
 *     tablet has none
 * @param settings of scope table, by name, as text; for others the table keeps what the
 *     coordinator's server has as defaults now
 */
public record TableOptions(List<Bytes> splits, Map<String, String> settings) {
  public TableOptions {
    splits = List.copyOf(new TreeSet<>(splits));
    settings = Map.copyOf(settings);
    if (splits.contains(Bytes.EMPTY)) {
      throw new IllegalArgumentException("an empty row is no split point");
    }
  }

  /** One tablet, default settings. */
  public static TableOptions defaults() {
    return new TableOptions(List.of(), Map.of());
  }

  public TableOptions withSplits(List<Bytes> newSplits) {
    return new TableOptions(newSplits, settings);
  }

  /** These options with one more setting, which the server checks. */
  public TableOptions with(String name, String value) {
    Map<String, String> more = new TreeMap<>(settings);
    more.put(name, value);
    return new TableOptions(splits, more);
  }
}
