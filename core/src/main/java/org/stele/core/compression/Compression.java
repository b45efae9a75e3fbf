package org.stele.core.compression;

import java.util.Locale;
import org.stele.core.data.MalformedBytesException;

/** How bytes on disk can be compressed. The id is stored; ids never change their meaning. */
public enum Compression {
  NONE(0, new PlainCodec()),
  LZ4(1, new Lz4Codec()),
  ZSTD(2, new ZstdCodec()),
  SNAPPY(3, new SnappyCodec());

  private static final Compression[] BY_ID = {NONE, LZ4, ZSTD, SNAPPY};

  private final byte id;
  private final Codec codec;

  Compression(int id, Codec codec) {
    this.id = (byte) id;
    this.codec = codec;
  }

  public byte id() {
    return id;
  }

  public Codec codec() {
    return codec;
  }

  /** The name in settings: {@code lz4}, {@code zstd}, {@code snappy} or {@code none}. */
  public String settingName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The compression with this id.
   *
   * @throws MalformedBytesException if there is none
   */
  public static Compression ofId(int id) {
    if (id < 0 || id >= BY_ID.length) {
      throw new MalformedBytesException("unknown compression " + id);
    }
    return BY_ID[id];
  }

  /**
   * The compression with this name in settings.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Compression ofSetting(String name) {
    for (Compression compression : BY_ID) {
      if (compression.settingName().equals(name)) {
        return compression;
      }
    }
    throw new IllegalArgumentException("there is no compression " + name);
  }
}
