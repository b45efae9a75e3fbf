package org.stele.server.metadata;

import org.stele.core.data.Bytes;
import org.stele.core.data.MalformedBytesException;

/**
 * Says that logs of a server that is gone may hold writes of a tablet that are in no file.
 *
 * @param session of that server
 * @param epoch of the tablet's assignment to it
 */
public record LogReference(String session, int epoch) {
  Bytes qualifier() {
    return Bytes.of(session + "." + epoch);
  }

  static LogReference parse(Bytes qualifier) {
    String text = qualifier.toUtf8();
    int dot = text.lastIndexOf('.');
    try {
      if (dot > 0) {
        return new LogReference(text.substring(0, dot), Integer.parseInt(text.substring(dot + 1)));
      }
    } catch (NumberFormatException e) {
      throw new MalformedBytesException("'" + text + "' is not a log reference: " + e.getMessage());
    }
    throw new MalformedBytesException("'" + text + "' is not a log reference");
  }
}
