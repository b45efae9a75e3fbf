package org.stele.test.cases;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.stele.client.ClientOptions;
import org.stele.core.net.TestTls;
import org.stele.test.check.TestForm;
import org.stele.test.net.RawSocket;
import org.stele.test.process.Serving;

/** The ways of serving that must behave alike: types of servers, some with TLS. */
enum ServerKind {
  THREADED_SELECTOR("threaded_selector", false),
  CUSTOM_HS_HA("custom_hs_ha", false),
  THREADPOOL("threadpool", false),
  SSL("ssl", true),
  THREADPOOL_WITH_TLS("threadpool", true);

  private final String type;
  private final boolean encrypted;

  ServerKind(String type, boolean encrypted) {
    this.type = type;
    this.encrypted = encrypted;
  }

  /**
   * Those that a test of cases is run for: the default; all in the long form, or with {@code
   * -Dstele.server.kinds=all}.
   */
  static List<ServerKind> ofThisForm() {
    boolean all = TestForm.LONG || System.getProperty("stele.server.kinds", "").equals("all");
    return all ? List.of(values()) : List.of(THREADED_SELECTOR);
  }

  /** What one connection costs a server. */
  int descriptorsPerConnection() {
    return type.equals("threadpool") ? 3 : 1;
  }

  /** Of so many connections: with TLS each costs much more processor time, so fewer will do. */
  int fewer(int connections) {
    return encrypted ? connections / 10 : connections;
  }

  /** From now on servers are of this kind, and clients connect to such. */
  void use() {
    Map<String, String> settings = new HashMap<>();
    settings.put("rpc.server.type", type);
    ClientOptions options = ClientOptions.defaults();
    if (encrypted) {
      TestTls tls = TestTls.shared();
      settings.putAll(tls.serverSettings());
      options = options.withTls(tls.clientOptions());
      RawSocket.encryptWith(tls.context(tls.client()).getSocketFactory());
    } else {
      RawSocket.encryptWith(null);
    }
    Serving.use(new Serving(settings, options));
  }

  static void useDefault() {
    RawSocket.encryptWith(null);
    Serving.use(Serving.byDefault());
  }
}
