package org.stele.tserver;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.Setting;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.tserver.service.ServerSelf;
import org.stele.tserver.tablet.TabletMap;

/** What a server says about itself, put together when it is asked. Thread-safe. */
final class ServerState implements ServerSelf {
  private final String instanceId;
  private final String session;
  private final Settings settings;
  private final TabletMap tablets;
  private final Supplier<Map<String, Long>> counts;
  private final Supplier<String> notReadyReason;
  private final Clock clock;
  private final long startNanos;

  private volatile @Nullable String address;

  ServerState(
      String instanceId,
      String session,
      Settings settings,
      TabletMap tablets,
      Supplier<Map<String, Long>> counts,
      Supplier<String> notReadyReason,
      Clock clock) {
    this.instanceId = instanceId;
    this.session = session;
    this.settings = settings;
    this.tablets = tablets;
    this.counts = counts;
    this.notReadyReason = notReadyReason;
    this.clock = clock;
    this.startNanos = clock.nanos();
  }

  void listensAt(String newAddress) {
    address = newAddress;
  }

  @Override
  public String instanceId() {
    return instanceId;
  }

  @Override
  public String session() {
    return session;
  }

  @Override
  public String address() {
    String known = address;
    return known == null ? "" : known;
  }

  @Override
  public String version() {
    return Release.version();
  }

  @Override
  public String notReadyReason() {
    return notReadyReason.get();
  }

  @Override
  public long upMillis() {
    return TimeUnit.NANOSECONDS.toMillis(clock.nanos() - startNanos);
  }

  @Override
  public int tablets() {
    return tablets.size();
  }

  @Override
  public Map<String, Long> counters() {
    return new TreeMap<>(counts.get());
  }

  @Override
  public Map<String, String> settings() {
    return settings.effective();
  }

  @Override
  public Map<String, String> tableDefaults() {
    return settings.effective(Setting.Scope.TABLE);
  }
}
