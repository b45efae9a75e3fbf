package org.stele.server.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.file.FileOutput;

/** Appends to one file of a Hadoop file system. */
final class HadoopOutput implements FileOutput {
  private static final int COPY_BYTES = 64 << 10;

  private final String path;
  private final FSDataOutputStream stream;

  HadoopOutput(String path, FSDataOutputStream stream) {
    this.path = path;
    this.stream = stream;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    NonBlocking.assertMayBlock();
    try {
      if (source.hasArray()) {
        stream.write(source.array(), source.arrayOffset() + source.position(), source.remaining());
        source.position(source.limit());
        return;
      }
      byte[] copy = new byte[Math.min(COPY_BYTES, source.remaining())];
      while (source.hasRemaining()) {
        int length = Math.min(copy.length, source.remaining());
        source.get(copy, 0, length);
        stream.write(copy, 0, length);
      }
    } catch (IOException e) {
      throw named("write", e);
    }
  }

  @Override
  public long position() {
    return stream.getPos();
  }

  @Override
  public void flush() throws IOException {
    NonBlocking.assertMayBlock();
    try {
      stream.hflush();
    } catch (IOException e) {
      throw named("hflush", e);
    }
  }

  @Override
  public void sync() throws IOException {
    NonBlocking.assertMayBlock();
    try {
      stream.hsync();
    } catch (IOException e) {
      throw named("hsync", e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      stream.close();
    } catch (IOException e) {
      throw named("close", e);
    }
  }

  private IOException named(String what, IOException e) {
    return new IOException(path + ": " + what + " failed: " + e.getMessage(), e);
  }
}
