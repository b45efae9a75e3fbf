package org.stele.server.hadoop;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.file.FileInput;

/** Reads one file of a Hadoop file system at any position. */
final class HadoopInput implements FileInput {
  private final String path;
  private final FSDataInputStream stream;
  private final long length;

  HadoopInput(String path, FSDataInputStream stream, long length) {
    this.path = path;
    this.stream = stream;
    this.length = length;
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int count) throws IOException {
    NonBlocking.assertMayBlock();
    try {
      stream.readFully(position, target, offset, count);
    } catch (EOFException e) {
      EOFException named =
          new EOFException(
              path + " has " + length + " bytes, wanted " + count + " at offset " + position);
      named.initCause(e);
      throw named;
    } catch (IOException e) {
      throw new IOException(
          path + ": reading " + count + " bytes at offset " + position + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    try {
      stream.close();
    } catch (IOException e) {
      throw new UncheckedIOException(path + ": close failed", e);
    }
  }
}
