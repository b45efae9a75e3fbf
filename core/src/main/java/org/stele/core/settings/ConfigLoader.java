package org.stele.core.settings;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/**
 * Reads settings from where operators write them; later sources win: the file {@code
 * stele.properties}, the environment, options of the command.
 *
 * <p>A variable of the environment is the setting's name in upper case, with {@code _} for each dot
 * and {@code STELE_SETTING_} in front: {@code STELE_SETTING_RPC_PORT} for {@code rpc.port}. Nothing
 * is repaired or passed over: a setting that is unknown, malformed, or there twice is refused with
 * the place it stands in.
 */
public final class ConfigLoader {
  private static final String PREFIX = "STELE_SETTING_";

  private ConfigLoader() {}

  /**
   * Merges the sources.
   *
   * @param file may be missing: then it says nothing
   * @throws SettingException naming the source, the setting, its text and the rule
   */
  public static Settings load(
      Path file, Map<String, String> environment, Map<String, String> options) throws IOException {
    return load(List.of(file), environment, options);
  }

  /**
   * Merges the sources.
   *
   * @param files later ones are stronger; any may be missing: then it says nothing
   * @throws SettingException naming the source, the setting, its text and the rule
   */
  public static Settings load(
      List<Path> files, Map<String, String> environment, Map<String, String> options)
      throws IOException {
    Map<String, String> given = new LinkedHashMap<>();
    for (Path file : files) {
      given.putAll(checked(file.toString(), fromFile(file)));
    }
    given.putAll(checked("environment", fromEnvironment(environment)));
    given.putAll(checked("options", options));
    return Settings.of(given);
  }

  private static Map<String, String> checked(String source, Map<String, String> given) {
    try {
      Settings.of(given);
      return given;
    } catch (SettingException e) {
      throw new SettingException(source + ": " + e.getMessage());
    }
  }

  private static Map<String, String> fromFile(Path file) throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      return found;
    }
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      new OnceEach(file, found).load(reader);
    } catch (IllegalArgumentException e) {
      throw e instanceof SettingException ? e : new SettingException(file + ": " + e.getMessage());
    } catch (CharacterCodingException e) { // which names neither the file nor the trouble
      throw new SettingException(file + " is not UTF-8: write other characters as \\uNNNN");
    } catch (FileSystemException e) { // names the file
      throw e;
    } catch (IOException e) {
      throw new IOException("cannot read " + file + ": " + e.getMessage(), e);
    }
    return found;
  }

  private static Map<String, String> fromEnvironment(Map<String, String> environment) {
    Map<String, String> names = new LinkedHashMap<>();
    StandardSettings.byName().keySet().forEach(name -> names.put(variable(name), name));
    Map<String, String> found = new LinkedHashMap<>();
    environment.forEach(
        (variable, text) -> {
          if (variable.startsWith(PREFIX)) {
            String guess =
                variable.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '.');
            found.put(names.getOrDefault(variable, guess), text);
          }
        });
    return found;
  }

  private static String variable(String name) {
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** Hands on what is loaded and refuses a key that comes again, which Properties would let win. */
  private static final class OnceEach extends Properties {
    private static final long serialVersionUID = 1L;

    private final transient Path file;
    private final transient Map<String, String> found;

    OnceEach(Path file, Map<String, String> found) {
      this.file = file;
      this.found = found;
    }

    @Override
    public synchronized Object put(Object key, Object value) {
      if (found.putIfAbsent((String) key, (String) value) != null) {
        throw new SettingException(file + ": " + key + " is there twice");
      }
      return value;
    }
  }
}
