package org.stele.core.net;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * TLS on a socket that never blocks. First {@link #handshake} until it is done, by one thread at a
 * time; then reading and writing. Buffers are lent per operation ({@link TlsBuffers}); between two
 * operations the link keeps only what must wait: part of a record that is not whole, what a reader
 * had no room for, what the socket did not take.
 *
 * <p>Always: once the handshake is done there is no other. TLS 1.2's renegotiation breaks the
 * connection; TLS 1.3's new keys go with the next write. Failures of the protocol are told to the
 * other side by an alert, if the socket takes it.
 */
public final class TlsLink implements Link {
  private static final int HEADER_BYTES = 5;
  private static final int ALERT = 21;
  private static final int HANDSHAKE = 22;
  private static final byte[] NOTHING = new byte[0];

  /** What a handshake waits for. */
  public enum Progress {
    DONE,
    /** Until the socket is readable. */
    NEEDS_INPUT,
    /** Until the socket has room. */
    NEEDS_ROOM,
    /** Until {@link #runTasks} has run, which takes processor time: milliseconds. */
    NEEDS_TASKS
  }

  // ---- Constant
  private final SocketChannel channel;
  private final SSLEngine engine;
  private final TlsBuffers buffers;

  // ---- Owned by the reading thread
  /** Encrypted bytes that came and are no whole record, or one that nobody had room for. */
  private byte[] received = NOTHING;

  /** Bytes of a record that its reader had no room for, from {@link #plainFrom}. */
  private byte[] plain = NOTHING;

  private int plainFrom;
  private boolean inputEnded;
  private boolean recordSeen;

  // ---- Owned by the writing thread, and the lock for who says the last words
  private final ReentrantLock writing = new ReentrantLock();

  /** Encrypted bytes that the socket did not take, from {@link #heldBackFrom}. */
  @GuardedBy("writing")
  private byte[] heldBack = NOTHING;

  @GuardedBy("writing")
  private int heldBackFrom;

  private volatile boolean done;

  TlsLink(SocketChannel channel, SSLEngine engine, TlsBuffers buffers) {
    this.channel = channel;
    this.engine = engine;
    this.buffers = buffers;
  }

  /** Whether these bytes are the beginning of a TLS connection. */
  public static boolean looksLikeTls(byte[] bytes, int offset, int length) {
    return length > 1 && bytes[offset] == HANDSHAKE && bytes[offset + 1] == 3;
  }

  // ---- Handshake

  /**
   * Goes on with the handshake as far as it gets without waiting.
   *
   * @throws NotTlsException if the other side does not speak TLS
   * @throws SSLException saying what is wrong with certificates or protocol, on either side
   */
  public Progress handshake() throws IOException {
    try {
      return advance();
    } catch (SSLException e) {
      sayLastWords();
      throw e;
    }
  }

  private Progress advance() throws IOException {
    if (!done && engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING) {
      engine.beginHandshake();
    }
    while (true) {
      if (!flush()) {
        return Progress.NEEDS_ROOM;
      }
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> {
          return Progress.NEEDS_TASKS;
        }
        case NEED_WRAP -> {
          writing.lock();
          try {
            wrap(ByteBuffer.wrap(NOTHING));
          } finally {
            writing.unlock();
          }
        }
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          if (!unwrapOfHandshake()) {
            return Progress.NEEDS_INPUT;
          }
        }
        case FINISHED, NOT_HANDSHAKING -> {
          done = true;
          return Progress.DONE;
        }
      }
    }
  }

  /** Takes one record; false if none is whole yet. */
  private boolean unwrapOfHandshake() throws IOException {
    try (TlsBuffers.Lease lease = buffers.lend()) {
      boolean whole = fill(lease);
      if (!whole) {
        keep(lease.encrypted);
        if (inputEnded) {
          throw new EOFException("the other side closed the connection during the TLS handshake");
        }
        return false;
      }
      lease.plain.clear();
      engine.unwrap(lease.encrypted, lease.plain);
      keep(lease.encrypted);
      keepPlain(lease.plain.flip());
      return true;
    }
  }

  /** Does what the handshake needs of processor time. Any thread, but one at a time. */
  public void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /** Whether the handshake is done. */
  public boolean isDone() {
    return done;
  }

  /** The name in the other side's certificate; null if it showed none. */
  public @Nullable String peerName() {
    try {
      return engine.getSession().getPeerPrincipal().getName();
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }

  /** What came and was not TLS, after a {@link NotTlsException}. */
  public byte[] receivedBytes() {
    return received.clone();
  }

  // ---- Reading

  @Override
  public int read(ByteBuffer into) throws IOException {
    try {
      int count = readPlain(into);
      return count == 0 && inputEnded && !hasInput() ? -1 : count;
    } catch (SSLException e) {
      sayLastWords();
      throw e;
    }
  }

  private int readPlain(ByteBuffer into) throws IOException {
    int begin = into.position();
    if (plain.length > 0) {
      int count = Math.min(into.remaining(), plain.length - plainFrom);
      into.put(plain, plainFrom, count);
      plainFrom += count;
      if (plainFrom < plain.length) {
        return count;
      }
      plain = NOTHING;
    }
    try (TlsBuffers.Lease lease = buffers.lend()) {
      boolean whole = fill(lease);
      while (whole && plain.length == 0 && into.hasRemaining()) {
        unwrap(lease, into);
        whole = isRecordWhole(lease.encrypted);
      }
      keep(lease.encrypted);
    }
    return into.position() - begin;
  }

  /** Takes one record, straight to the reader if it has room for it. */
  private void unwrap(TlsBuffers.Lease lease, ByteBuffer into) throws SSLException {
    boolean straight = into.remaining() >= recordLength(lease.encrypted);
    ByteBuffer target = straight ? into : lease.plain.clear();
    SSLEngineResult result = engine.unwrap(lease.encrypted, target);
    switch (result.getStatus()) {
      case OK -> refuseRenegotiation(result.getHandshakeStatus());
      case CLOSED -> {
        inputEnded = true;
        lease.encrypted.position(lease.encrypted.limit()); // nothing counts behind the end
      }
      case BUFFER_OVERFLOW, BUFFER_UNDERFLOW ->
          throw new SSLException("a TLS record of impossible length");
    }
    if (!straight) {
      ByteBuffer some = target.flip();
      int count = Math.min(some.remaining(), into.remaining());
      into.put(into.position(), some, 0, count);
      into.position(into.position() + count);
      keepPlain(some.position(count));
    }
  }

  private void refuseRenegotiation(HandshakeStatus status) throws SSLException {
    boolean handshakes =
        status == HandshakeStatus.NEED_TASK
            || status != HandshakeStatus.NOT_HANDSHAKING
                && status != HandshakeStatus.FINISHED
                && !engine.isInboundDone()
                && !isTls13();
    if (handshakes) {
      throw new SSLException("a second TLS handshake on one connection is refused");
    }
  }

  private boolean isTls13() {
    return engine.getSession().getProtocol().equals("TLSv1.3");
  }

  @Override
  public boolean hasInput() {
    return plain.length > 0
        || !inputEnded && received.length > 0 && isRecordWhole(ByteBuffer.wrap(received));
  }

  @Override
  public int heldInputBytes() {
    return received.length + plain.length;
  }

  /**
   * Puts what was kept into the buffer of encrypted bytes, and behind it what the socket has; if a
   * record is whole already the socket is left alone. Ready to be taken from.
   *
   * @return whether a record is whole
   */
  private boolean fill(TlsBuffers.Lease lease) throws IOException {
    ByteBuffer encrypted = lease.encrypted.clear();
    encrypted.put(received).flip();
    if (isRecordWhole(encrypted) || inputEnded) {
      return isRecordWhole(encrypted);
    }
    encrypted.compact();
    ByteBuffer socket = lease.socket.clear();
    int count = channel.read(socket);
    if (count < 0) {
      inputEnded = true;
    } else {
      encrypted.put(socket.flip());
    }
    encrypted.flip();
    checkFirstRecord(encrypted);
    return isRecordWhole(encrypted);
  }

  private void checkFirstRecord(ByteBuffer encrypted) throws NotTlsException {
    if (recordSeen || !encrypted.hasRemaining()) {
      return;
    }
    int type = encrypted.get(encrypted.position());
    if (type != HANDSHAKE && type != ALERT) {
      keep(encrypted);
      throw new NotTlsException(
          "the other side does not speak TLS: it began with byte "
              + Integer.toHexString(type & 0xff));
    }
    recordSeen = true;
  }

  /** Keeps what was not taken of the encrypted bytes. */
  private void keep(ByteBuffer encrypted) {
    int count = encrypted.remaining();
    received =
        count == 0
            ? NOTHING
            : Arrays.copyOfRange(encrypted.array(), encrypted.position(), encrypted.limit());
  }

  private void keepPlain(ByteBuffer rest) {
    if (rest.hasRemaining()) {
      plain = Arrays.copyOfRange(rest.array(), rest.position(), rest.limit());
      plainFrom = 0;
    }
  }

  private static boolean isRecordWhole(ByteBuffer encrypted) {
    return encrypted.remaining() >= HEADER_BYTES
        && encrypted.remaining() >= Math.min(recordLength(encrypted), TlsBuffers.MAX_RECORD_BYTES);
  }

  private static int recordLength(ByteBuffer encrypted) {
    return HEADER_BYTES + (encrypted.getShort(encrypted.position() + 3) & 0xffff);
  }

  // ---- Writing

  @Override
  public int write(ByteBuffer from) throws IOException {
    int begin = from.position();
    writing.lock();
    try {
      if (!done) {
        throw new IllegalStateException("the TLS handshake is not done");
      }
      while (from.hasRemaining() && flush()) {
        wrap(from);
      }
    } finally {
      writing.unlock();
    }
    return from.position() - begin;
  }

  /** Encrypts as much as goes into one write of the socket, and writes it. */
  @GuardedBy("writing")
  private void wrap(ByteBuffer from) throws IOException {
    try (TlsBuffers.Lease lease = buffers.lend()) {
      ByteBuffer encrypted = lease.encrypted.clear();
      boolean more = true;
      while (more && encrypted.remaining() >= engine.getSession().getPacketBufferSize()) {
        SSLEngineResult result = engine.wrap(from, encrypted);
        if (result.getStatus() != SSLEngineResult.Status.OK) {
          writeSocket(lease, encrypted.flip()); // an alert, if anything
          throw new ClosedChannelException();
        }
        if (from.hasRemaining() && result.bytesConsumed() + result.bytesProduced() == 0) {
          throw new SSLException("a second TLS handshake on one connection is refused");
        }
        more = from.hasRemaining();
      }
      writeSocket(lease, encrypted.flip());
    }
  }

  @GuardedBy("writing")
  private void writeSocket(TlsBuffers.Lease lease, ByteBuffer encrypted) throws IOException {
    while (encrypted.hasRemaining()) {
      ByteBuffer socket = lease.socket.clear();
      int count = Math.min(socket.remaining(), encrypted.remaining());
      socket.put(encrypted.array(), encrypted.position(), count).flip();
      int written = channel.write(socket);
      encrypted.position(encrypted.position() + written);
      if (written < count) {
        heldBack = Arrays.copyOfRange(encrypted.array(), encrypted.position(), encrypted.limit());
        heldBackFrom = 0;
        return;
      }
    }
  }

  @Override
  public boolean flush() throws IOException {
    writing.lock();
    try {
      if (heldBack.length == 0) {
        return true;
      }
      ByteBuffer rest = ByteBuffer.wrap(heldBack, heldBackFrom, heldBack.length - heldBackFrom);
      heldBack = NOTHING;
      try (TlsBuffers.Lease lease = buffers.lend()) {
        writeSocket(lease, rest);
      }
      return heldBack.length == 0;
    } finally {
      writing.unlock();
    }
  }

  @Override
  public int heldBackBytes() {
    writing.lock();
    try {
      return heldBack.length - heldBackFrom;
    } finally {
      writing.unlock();
    }
  }

  // ---- The end

  /**
   * Sends the alert that the engine has made of a failure or of the end, if the socket takes it.
   */
  private void sayLastWords() {
    if (!writing.tryLock()) {
      return; // somebody is writing: nothing can be put behind what he writes
    }
    try {
      if (flush()) {
        for (int i = 0; i < 2 && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP; i++) {
          wrapLastWords();
        }
      }
    } catch (IOException e) {
      return; // nobody hears them
    } finally {
      writing.unlock();
    }
  }

  @GuardedBy("writing")
  private void wrapLastWords() throws IOException {
    try (TlsBuffers.Lease lease = buffers.lend()) {
      ByteBuffer encrypted = lease.encrypted.clear();
      engine.wrap(ByteBuffer.wrap(NOTHING), encrypted);
      writeSocket(lease, encrypted.flip());
    }
  }

  @Override
  public void endOutput() throws IOException {
    engine.closeOutbound();
    sayLastWords();
    channel.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  /** Says good-bye if the socket takes it, and closes it. */
  @Override
  public void close() throws IOException {
    try {
      if (channel.isOpen()) {
        engine.closeOutbound();
        sayLastWords();
      }
    } finally {
      channel.close();
    }
  }
}
