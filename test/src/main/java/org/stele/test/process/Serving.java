package org.stele.test.process;

import java.util.Map;
import org.stele.client.ClientOptions;

/**
 * How the servers of a test serve, beside the settings that the test itself gives them, and how
 * clients connect to them. Tests that run for several ways of serving switch it; they run one after
 * the other.
 */
public record Serving(Map<String, String> settings, ClientOptions clientOptions) {
  private static volatile Serving current = byDefault();

  public Serving {
    settings = Map.copyOf(settings);
  }

  /** As servers and clients are without being told anything. */
  public static Serving byDefault() {
    return new Serving(Map.of(), ClientOptions.defaults());
  }

  public static Serving current() {
    return current;
  }

  /** Servers and clients that are made from now on are like this. */
  public static void use(Serving serving) {
    current = serving;
  }
}
