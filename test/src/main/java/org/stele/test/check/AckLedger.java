package org.stele.test.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What became of each write, by a key that is written once. After any fault an acknowledged write
 * is readable with its value, a refused one is absent, and one of unknown outcome is the one or the
 * other, and stays so.
 *
 * <p>Thread-safe.
 */
public final class AckLedger {
  private final Map<String, Entry> entries = new ConcurrentSkipListMap<>();

  /** How a write ended, as its caller was told. */
  public enum Outcome {
    SENT,
    ACKED,
    FAILED,
    UNKNOWN
  }

  private record Entry(String value, Outcome outcome, @Nullable Boolean seen) {}

  /** Before the write: from here on it may be there. */
  public void sent(String key, String value) {
    if (entries.put(key, new Entry(value, Outcome.SENT, null)) != null) {
      throw new IllegalStateException("key " + key + " was written before");
    }
  }

  public void acked(String key) {
    become(key, Outcome.ACKED);
  }

  /** The caller was told that nothing was done. */
  public void failed(String key) {
    become(key, Outcome.FAILED);
  }

  public void unknown(String key) {
    become(key, Outcome.UNKNOWN);
  }

  private void become(String key, Outcome outcome) {
    entries.compute(
        key,
        (k, entry) -> {
          if (entry == null || entry.outcome() != Outcome.SENT) {
            throw new IllegalStateException("key " + key + " is " + entry + ", not just sent");
          }
          return new Entry(entry.value(), outcome, null);
        });
  }

  public long count(Outcome outcome) {
    return entries.values().stream().filter(entry -> entry.outcome() == outcome).count();
  }

  /**
   * Compares all entries with what is read now.
   *
   * @param reader gives the value of a key, or null
   * @return every contradiction in words; empty if there is none
   */
  public List<String> check(Function<String, @Nullable String> reader) {
    List<String> faults = new ArrayList<>();
    entries.replaceAll(
        (key, entry) -> {
          @Nullable String value = reader.apply(key);
          String fault = contradiction(entry, value);
          if (fault != null) {
            faults.add(key + " " + fault);
          }
          return new Entry(entry.value(), entry.outcome(), value != null);
        });
    return faults;
  }

  private static @Nullable String contradiction(Entry entry, @Nullable String value) {
    boolean present = value != null;
    if (present && !entry.value().equals(value)) {
      return "has a value that was never written to it";
    }
    if (entry.outcome() == Outcome.ACKED && !present) {
      return "was acknowledged and is lost";
    }
    if (entry.outcome() == Outcome.FAILED && present) {
      return "was refused and is there";
    }
    if (entry.seen() != null && entry.seen() != present) {
      return "of unknown outcome, was " + (present ? "absent" : "there") + " before";
    }
    return null;
  }
}
