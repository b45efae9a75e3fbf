package org.stele.core.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.WriterStamp;

/**
 * What stands in front of the Thrift message of a call (docs/formats/wire.md has the byte diagram):
 * its id, deadline, attempt, and who calls. One object is reused for the calls of a connection; not
 * thread-safe.
 *
 * <pre>
 *   header = C5 01 N(u16) flags(u16) call id(u64) client id(u64) [fields of the set flags, in order of the flags]
 *   N      = bytes behind N
 * </pre>
 */
public final class CallHeader {
  /** First byte of every header; no Thrift protocol begins with it. */
  public static final int MAGIC = 0xc5;

  /** The version written, and the only one read. */
  public static final int VERSION = 1;

  /** First frame of a connection: versions and features, and no Thrift message behind. */
  public static final int HELLO = 0x0001;

  public static final int DEADLINE = 0x0002;
  public static final int RETRY = 0x0004;
  public static final int WRITER = 0x0008;
  public static final int TENANT = 0x0010;
  public static final int CREDENTIAL = 0x0020;
  public static final int TRACE = 0x0040;

  private static final int KNOWN_FLAGS =
      HELLO | DEADLINE | RETRY | WRITER | TENANT | CREDENTIAL | TRACE;

  /** Bytes up to and with N. */
  static final int PREFIX_BYTES = 4;

  private static final int MAX_TEXT_BYTES = 0xff;
  private static final byte[] NO_BYTES = new byte[0];

  private final ByteReader reader = new ByteReader();

  private int flags;
  private long callId;
  private long clientId;
  private int lowestVersion;
  private int highestVersion;
  private long requiredFeatures;
  private String instanceId = "";
  private long bootId;
  private long deadlineNanos;
  private long sinceFirstAttemptMillis;
  private int attempt = 1;
  private WriterStamp writer = WriterStamp.NONE;
  private String tenant = "";
  private byte[] tenantBytes = NO_BYTES;
  private byte[] credential = NO_BYTES;
  private long traceIdHigh;
  private long traceIdLow;

  /** Whether the bytes of a frame begin with a header. */
  public static boolean isAt(byte[] frame, int offset, int length) {
    return length > 0 && (frame[offset] & 0xff) == MAGIC;
  }

  /** Makes this the header of a call without any optional field. */
  public CallHeader reset(long newCallId, long newClientId) {
    flags = 0;
    callId = newCallId;
    clientId = newClientId;
    attempt = 1;
    sinceFirstAttemptMillis = 0;
    deadlineNanos = 0;
    bootId = 0;
    writer = WriterStamp.NONE;
    credential = NO_BYTES;
    traceIdHigh = 0;
    traceIdLow = 0;
    return this;
  }

  /**
   * Makes this the first frame of a connection.
   *
   * @param expectedInstanceId the server must be of this instance; empty: of any
   */
  public CallHeader setHello(
      int lowest, int highest, long newRequiredFeatures, String expectedInstanceId) {
    checkText("instance id", expectedInstanceId);
    flags |= HELLO;
    lowestVersion = lowest;
    highestVersion = highest;
    requiredFeatures = newRequiredFeatures;
    instanceId = expectedInstanceId;
    return this;
  }

  /**
   * @param newBootId of the server's run whose clock {@code nanos} is of
   * @param nanos on that server's monotonic clock
   */
  public CallHeader setDeadline(long newBootId, long nanos) {
    flags |= DEADLINE;
    bootId = newBootId;
    deadlineNanos = nanos;
    return this;
  }

  /**
   * @param sinceFirstMillis milliseconds since the first attempt, up to 2^32-1
   * @param newAttempt 1 for the first
   */
  public CallHeader setRetry(long sinceFirstMillis, int newAttempt) {
    flags |= RETRY;
    sinceFirstAttemptMillis = Math.max(0, Math.min(sinceFirstMillis, 0xffff_ffffL));
    attempt = Math.max(0, Math.min(newAttempt, 0xffff));
    return this;
  }

  /** Names the write, so that it can be recognised if it comes again. */
  public CallHeader setWriter(WriterStamp newWriter) {
    flags |= WRITER;
    writer = newWriter;
    return this;
  }

  public CallHeader setTenant(String newTenant) {
    if (!newTenant.equals(tenant)) {
      tenantBytes = checkText("tenant", newTenant);
      tenant = newTenant;
    }
    flags |= TENANT;
    return this;
  }

  public CallHeader setCredential(byte[] newCredential) {
    if (newCredential.length > 0xffff - 0x400) {
      throw new IllegalArgumentException(
          "a credential of " + newCredential.length + " bytes; the header takes 64512");
    }
    flags |= CREDENTIAL;
    credential = newCredential.clone();
    return this;
  }

  public CallHeader setTrace(long high, long low) {
    flags |= TRACE;
    traceIdHigh = high;
    traceIdLow = low;
    return this;
  }

  private static byte[] checkText(String what, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length > MAX_TEXT_BYTES) {
      throw new IllegalArgumentException(
          what + " of " + bytes.length + " bytes; the header takes " + MAX_TEXT_BYTES);
    }
    return bytes;
  }

  /** Appends the header. */
  public void encode(ByteWriter out) {
    out.writeByte(MAGIC).writeByte(VERSION);
    int sizeAt = out.length();
    out.writeShort(0).writeShort(flags).writeLong(callId).writeLong(clientId);
    if (has(HELLO)) {
      out.writeShort(lowestVersion).writeShort(highestVersion).writeLong(requiredFeatures);
      byte[] id = instanceId.getBytes(UTF_8);
      out.writeByte(id.length).writeBytes(id);
    }
    if (has(DEADLINE)) {
      out.writeLong(bootId).writeLong(deadlineNanos);
    }
    if (has(RETRY)) {
      out.writeInt((int) sinceFirstAttemptMillis).writeShort(attempt);
    }
    if (has(WRITER)) {
      out.writeLong(writer.writerId()).writeLong(writer.number());
      out.writeLong(writer.lowestUnresolved());
    }
    if (has(TENANT)) {
      out.writeByte(tenantBytes.length).writeBytes(tenantBytes);
    }
    if (has(CREDENTIAL)) {
      out.writeShort(credential.length).writeBytes(credential);
    }
    if (has(TRACE)) {
      out.writeLong(traceIdHigh).writeLong(traceIdLow);
    }
    int size = out.length() - sizeAt - 2;
    out.array()[sizeAt] = (byte) (size >>> 8);
    out.array()[sizeAt + 1] = (byte) size;
  }

  /**
   * Reads the header at the begin of a frame. Fields that it does not have get their defaults.
   *
   * @return its length: the Thrift message is behind it
   * @throws MalformedBytesException if it is cut off, of another version, or has unknown flags; the
   *     call id is then 0 or that of the header
   */
  public int decode(byte[] frame, int offset, int length) {
    reset(0, 0);
    reader.reset(frame, offset, length);
    int magic = reader.readUnsignedByte();
    int version = reader.readUnsignedByte();
    if (magic != MAGIC || version != VERSION) {
      throw new MalformedBytesException(
          "a call header begins with c501, not "
              + Integer.toHexString(magic << 8 | version)
              + " (version "
              + version
              + ")");
    }
    int size = reader.readUnsignedShort();
    if (size > length - PREFIX_BYTES) {
      throw new MalformedBytesException(
          "a call header of " + size + " bytes in a frame of " + length);
    }
    reader.reset(frame, offset + PREFIX_BYTES, size);
    flags = reader.readUnsignedShort();
    callId = reader.readLong();
    clientId = reader.readLong();
    if ((flags & ~KNOWN_FLAGS) != 0) {
      throw new MalformedBytesException(
          "unknown flags " + Integer.toHexString(flags & ~KNOWN_FLAGS) + " of a call header");
    }
    if (flags != 0) {
      readFields();
    }
    return PREFIX_BYTES + size;
  }

  private void readFields() {
    if (has(HELLO)) {
      lowestVersion = reader.readUnsignedShort();
      highestVersion = reader.readUnsignedShort();
      requiredFeatures = reader.readLong();
      instanceId = new String(reader.readBytes(reader.readUnsignedByte()), UTF_8);
    }
    if (has(DEADLINE)) {
      bootId = reader.readLong();
      deadlineNanos = reader.readLong();
    }
    if (has(RETRY)) {
      sinceFirstAttemptMillis = reader.readInt() & 0xffff_ffffL;
      attempt = reader.readUnsignedShort();
    }
    if (has(WRITER)) {
      writer = new WriterStamp(reader.readLong(), reader.readLong(), reader.readLong());
    }
    if (has(TENANT)) {
      readTenant();
    }
    if (has(CREDENTIAL)) {
      credential = reader.readBytes(reader.readUnsignedShort());
    }
    if (has(TRACE)) {
      traceIdHigh = reader.readLong();
      traceIdLow = reader.readLong();
    }
  }

  /** A connection's calls are mostly of one tenant, so its text is made once. */
  private void readTenant() {
    int size = reader.readUnsignedByte();
    int from = reader.position();
    reader.skip(size);
    if (!Arrays.equals(tenantBytes, 0, tenantBytes.length, reader.array(), from, from + size)) {
      tenantBytes = Arrays.copyOfRange(reader.array(), from, from + size);
      tenant = new String(tenantBytes, UTF_8);
    }
  }

  public boolean has(int flag) {
    return (flags & flag) != 0;
  }

  public long callId() {
    return callId;
  }

  /** Random per client process. */
  public long clientId() {
    return clientId;
  }

  public int lowestVersion() {
    return lowestVersion;
  }

  public int highestVersion() {
    return highestVersion;
  }

  /** Bits of the features that the client cannot do without. */
  public long requiredFeatures() {
    return requiredFeatures;
  }

  /** The instance that the client expects, or empty. */
  public String instanceId() {
    return instanceId;
  }

  /** The server's run whose clock the deadline is of. */
  public long bootId() {
    return bootId;
  }

  /** With {@link #DEADLINE}, on the server's monotonic clock. */
  public long deadlineNanos() {
    return deadlineNanos;
  }

  public long sinceFirstAttemptMillis() {
    return sinceFirstAttemptMillis;
  }

  public int attempt() {
    return attempt;
  }

  /** {@link WriterStamp#NONE} if the header names none. */
  public WriterStamp writer() {
    return writer;
  }

  /** Empty if the header names none. */
  public String tenant() {
    return has(TENANT) ? tenant : "";
  }

  /** A copy; empty if the header has none. */
  public byte[] credential() {
    return credential.clone();
  }

  public long traceIdHigh() {
    return traceIdHigh;
  }

  public long traceIdLow() {
    return traceIdLow;
  }

  @Override
  public String toString() {
    return "call "
        + Long.toUnsignedString(callId)
        + " of client "
        + Long.toHexString(clientId)
        + (has(TENANT) ? " of tenant " + tenant : "")
        + ", flags "
        + Integer.toHexString(flags);
  }
}
