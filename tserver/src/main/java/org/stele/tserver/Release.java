package org.stele.tserver;

/** Which release this is. */
final class Release {
  private Release() {}

  /** As in the name of the tarball; {@code development} outside of one. */
  static String version() {
    String version = Release.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
