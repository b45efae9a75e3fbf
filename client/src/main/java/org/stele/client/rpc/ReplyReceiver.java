package org.stele.client.rpc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.time.Clock;
import org.stele.core.wire.ReplyHeader;

/**
 * The reading side of a connection: reads what the socket has and gives each call its reply, found
 * by the call id and nothing else. A late reply finds no call and is dropped; an answer to a call
 * that was never made, and anything else that breaks the protocol, closes the connection. Used by
 * the thread that has the {@link ReadingRole}, without the connection's lock.
 */
final class ReplyReceiver {
  private final ReentrantLock lock;
  private final ClientSocket socket;
  private final Clock clock;
  private final ServerClock serverClock;
  private final FrameSender sender;
  private final ConnectionLife life;

  /** Guarded by the lock. */
  private final CallTable calls;

  // Owned by the reading role.
  private final ReplyReader reader;
  private final ReplyHeader header = new ReplyHeader();
  private final List<byte[]> frames = new ArrayList<>();
  private long[] ids = new long[16];
  private @Nullable PendingCall[] answered = new @Nullable PendingCall[16];

  ReplyReceiver(
      ReentrantLock lock,
      ClientSocket socket,
      ReplyReader reader,
      Clock clock,
      ServerClock serverClock,
      CallTable calls,
      FrameSender sender,
      ConnectionLife life) {
    this.lock = lock;
    this.socket = socket;
    this.reader = reader;
    this.clock = clock;
    this.serverClock = serverClock;
    this.calls = calls;
    this.sender = sender;
    this.life = life;
  }

  /** Waits for bytes, at most so long; false if the connection is closed. */
  boolean await(long nanos) {
    try {
      return socket.await(nanos);
    } catch (IOException e) {
      life.lost("waiting failed: " + e, e);
      return false;
    }
  }

  /**
   * Reads what is there, without waiting, and hands the replies out. Any failure closes the
   * connection.
   *
   * @param holds new frames are to wait while several replies are handed out
   * @return how many replies came
   */
  int receive(boolean holds) {
    try {
      reader.read(socket.link(), frames);
      int count = frames.size();
      if (count > 0) {
        handOut(holds);
      }
      return count;
    } catch (IOException | MalformedBytesException e) {
      life.lost("the connection broke: " + e, e);
      return 0;
    } catch (RuntimeException | Error e) {
      life.lost("reading failed: " + e, e);
      return 0;
    } finally {
      frames.clear();
    }
  }

  private void handOut(boolean holds) throws IOException {
    long now = clock.nanos();
    int sound = 0;
    try {
      while (sound < frames.size()) {
        readHeader(sound);
        sound++;
      }
    } finally {
      giveReplies(sound, holds); // also those before one that is malformed
    }
    serverClock.read(header.serverNanos(), now);
  }

  private void readHeader(int index) throws IOException {
    byte[] frame = frames.get(index);
    header.decode(frame, 0, frame.length);
    if (header.bootId() != serverClock.bootId()) {
      throw new IOException("the server's boot id changed on one connection");
    }
    if (index == ids.length) {
      ids = Arrays.copyOf(ids, 2 * index);
      answered = Arrays.copyOf(answered, 2 * index);
    }
    ids[index] = header.callId();
  }

  private void giveReplies(int count, boolean holds) throws IOException {
    int taken = takeCalls(count, holds);
    for (int i = 0; i < taken; i++) {
      PendingCall call = answered[i];
      if (call != null) { // else it is late
        answered[i] = null;
        call.reply(frames.get(i));
      }
    }
    if (taken < count) {
      throw new IOException(
          "an answer to call " + Long.toHexString(ids[taken]) + ", which was never made");
    }
  }

  /** Takes the answered calls out, up to the first that was never made: each must get its reply. */
  private int takeCalls(int count, boolean holds) {
    lock.lock();
    try {
      int taken = 0;
      while (taken < count && calls.wasGiven(ids[taken])) {
        answered[taken] = calls.take(ids[taken]);
        taken++;
      }
      if (holds && count > 1) {
        sender.holdLocked();
      }
      return taken;
    } finally {
      lock.unlock();
    }
  }
}
