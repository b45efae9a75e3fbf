package org.stele.core.wire;

import java.nio.ByteBuffer;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TTransport;
import org.stele.core.data.ByteWriter;
import org.stele.core.thrift.SteleError;

/**
 * Appends Thrift structures to a {@link ByteWriter} with libthrift's protocols, which it makes once
 * and reuses. What a failed write left behind is removed again. Not thread-safe.
 */
public final class StructWriter {
  private static final TConfiguration CONFIGURATION = new TConfiguration();
  private static final TStruct RESULT = new TStruct("result");

  /** Every method of the IDL throws SteleError as field 1. */
  private static final TField ERROR = new TField("error", TType.STRUCT, (short) 1);

  private final ArrayOutput output = new ArrayOutput();
  private TProtocol compact = new TCompactProtocol(output);
  private TProtocol binary = new TBinaryProtocol(output);

  /**
   * Appends a structure.
   *
   * @param protocol {@link MessageHeader#COMPACT} or {@link MessageHeader#BINARY}
   * @throws TException if the structure is not complete; nothing is appended then
   */
  public void write(ByteWriter out, int protocol, TBase<?, ?> struct) throws TException {
    append(out, protocol, struct::write);
  }

  /** Appends the result structure of any method, with an error in it. */
  public void writeError(ByteWriter out, int protocol, SteleError error) throws TException {
    append(
        out,
        protocol,
        to -> {
          to.writeStructBegin(RESULT);
          to.writeFieldBegin(ERROR);
          error.write(to);
          to.writeFieldEnd();
          to.writeFieldStop();
          to.writeStructEnd();
        });
  }

  /** Appends what every Thrift library knows as the body of a message of type exception. */
  public void writeException(ByteWriter out, int protocol, TApplicationException exception)
      throws TException {
    append(out, protocol, exception::write);
  }

  private void append(ByteWriter out, int protocol, Body body) throws TException {
    int begin = out.length();
    boolean whole = false;
    output.target = out;
    try {
      body.write(protocol == MessageHeader.COMPACT ? compact : binary);
      whole = true;
    } finally {
      if (!whole) {
        out.truncate(begin);
        compact = new TCompactProtocol(output);
        binary = new TBinaryProtocol(output);
      }
    }
  }

  private interface Body {
    void write(TProtocol to) throws TException;
  }

  private static final class ArrayOutput extends TTransport {
    ByteWriter target = new ByteWriter(0);

    @Override
    public void write(byte[] source, int offset, int length) {
      target.writeBytes(source, offset, length);
    }

    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      target.writeBuffer(source);
      return count;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      throw new UnsupportedOperationException("this is written to");
    }

    @Override
    public TConfiguration getConfiguration() {
      return CONFIGURATION;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void open() {}

    @Override
    public void close() {}

    @Override
    public void updateKnownMessageSize(long size) {}

    @Override
    public void checkReadBytesAvailable(long count) {}

    @Override
    public void resetMessageSizeAndConsumedBytes(long newSize) {}
  }
}
