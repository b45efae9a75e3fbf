package org.stele.core.wire;

import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;

/**
 * Reads Thrift structures out of byte arrays with libthrift's protocols, which it makes once and
 * reuses. Lengths and element counts are compared with the bytes that are left before anything is
 * reserved, nesting is limited, and byte buffers of a structure lie in the array. Not thread-safe.
 */
public final class StructReader {
  /** Deeper structures than any of ours are refused. */
  static final int MAX_DEPTH = 64;

  private static final byte[] NOTHING = new byte[0];
  private static final TConfiguration CONFIGURATION = configuration();

  private final ArrayInput input = new ArrayInput();
  private TProtocol compact = new TCompactProtocol(input);
  private TProtocol binary = new TBinaryProtocol(input);

  private static TConfiguration configuration() {
    TConfiguration configuration = new TConfiguration();
    configuration.setRecursionLimit(MAX_DEPTH);
    return configuration;
  }

  /**
   * Fills a structure.
   *
   * @param protocol {@link MessageHeader#COMPACT} or {@link MessageHeader#BINARY}
   * @throws TException if the bytes are not such a structure, whatever is wrong with them
   */
  public void read(int protocol, byte[] array, int offset, int end, TBase<?, ?> into)
      throws TException {
    input.reset(array, offset, end);
    boolean whole = false;
    try {
      into.read(protocol == MessageHeader.COMPACT ? compact : binary);
      whole = true;
    } catch (RuntimeException | StackOverflowError e) {
      throw new TException("malformed structure: " + e, e);
    } finally {
      input.reset(NOTHING, 0, 0);
      if (!whole) {
        compact = new TCompactProtocol(input);
        binary = new TBinaryProtocol(input);
      }
    }
  }

  /** Reads the body of a message of type exception. */
  public static TApplicationException readException(int protocol, byte[] array, int offset, int end)
      throws TException {
    ArrayInput from = new ArrayInput();
    from.reset(array, offset, end);
    try {
      return TApplicationException.readFrom(
          protocol == MessageHeader.COMPACT
              ? new TCompactProtocol(from)
              : new TBinaryProtocol(from));
    } catch (RuntimeException | StackOverflowError e) {
      throw new TException("malformed exception: " + e, e);
    }
  }

  /** The part of an array that is read. */
  private static final class ArrayInput extends TTransport {
    private byte[] array = NOTHING;
    private int position;
    private int end;

    void reset(byte[] newArray, int newPosition, int newEnd) {
      array = newArray;
      position = newPosition;
      end = newEnd;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws TTransportException {
      checkReadBytesAvailable(length);
      System.arraycopy(array, position, target, offset, length);
      position += length;
      return length;
    }

    @Override
    public byte[] getBuffer() {
      return array;
    }

    @Override
    public int getBufferPosition() {
      return position;
    }

    @Override
    public int getBytesRemainingInBuffer() {
      return end - position;
    }

    @Override
    public void consumeBuffer(int length) {
      position += length;
    }

    @Override
    public void checkReadBytesAvailable(long count) throws TTransportException {
      if (count < 0 || count > end - position) {
        throw new TTransportException(
            TTransportException.END_OF_FILE,
            count + " bytes claimed, " + (end - position) + " are left in the message");
      }
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
    public void write(byte[] source, int offset, int length) {
      throw new UnsupportedOperationException("this is read from");
    }

    @Override
    public void updateKnownMessageSize(long size) {}

    @Override
    public void resetMessageSizeAndConsumedBytes(long newSize) {}
  }
}
