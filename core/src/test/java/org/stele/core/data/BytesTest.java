package org.stele.core.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;

class BytesTest {
  @Test
  void orderIsUnsigned() {
    List<Bytes> ascending =
        List.of(
            Bytes.EMPTY,
            Bytes.wrap(new byte[] {0}),
            Bytes.wrap(new byte[] {0, 0}),
            Bytes.of("a"),
            Bytes.of("a\0"),
            Bytes.of("b"),
            Bytes.wrap(new byte[] {0x7f}),
            Bytes.wrap(new byte[] {(byte) 0x80}),
            Bytes.wrap(new byte[] {(byte) 0xff}),
            Bytes.wrap(new byte[] {(byte) 0xff, (byte) 0xff}));
    for (int i = 0; i < ascending.size(); i++) {
      for (int j = 0; j < ascending.size(); j++) {
        assertEquals(
            Integer.compare(i, j), Integer.signum(ascending.get(i).compareTo(ascending.get(j))));
        assertEquals(i == j, ascending.get(i).equals(ascending.get(j)));
      }
    }
  }

  @Test
  void copiesAreCopies() {
    byte[] source = {1, 2, 3};
    Bytes copy = Bytes.of(source);
    source[0] = 9;
    assertArrayEquals(new byte[] {1, 2, 3}, copy.toArray());
    copy.toArray()[0] = 9;
    assertEquals(1, copy.at(0));
    assertEquals(Bytes.of(new byte[] {2, 3}), Bytes.of(source, 1, 2));
    ByteBuffer buffer = ByteBuffer.wrap(source, 1, 1);
    assertEquals(Bytes.wrap(new byte[] {2}), Bytes.of(buffer));
    assertEquals(1, buffer.position());
    assertSame(Bytes.EMPTY, Bytes.wrap(new byte[0]));
    assertTrue(copy.toByteBuffer().isReadOnly());
  }

  @Test
  void textShowsWhatIsNotPrintable() {
    assertEquals("a\\x00\\\\ \\xff", Bytes.wrap(new byte[] {'a', 0, '\\', ' ', -1}).toString());
    assertEquals("61ff", Bytes.wrap(new byte[] {'a', -1}).toHex());
    assertEquals("é", Bytes.of("é").toUtf8());
    assertNotEquals(Bytes.of("a"), "a");
  }

  @Test
  void readerReadsWhatWriterWrote() {
    Seeds.run(
        200,
        random -> {
          ByteWriter out = new ByteWriter(random.nextInt(4));
          long longs = random.nextLong() >>> random.nextInt(64);
          int ints = random.nextInt() >>> random.nextInt(32);
          byte[] bytes = new byte[random.nextInt(300)];
          random.nextBytes(bytes);
          out.writeByte(ints).writeShort(ints).writeInt(ints).writeLong(longs);
          out.writeVarlong(longs).writeVarint(ints & Integer.MAX_VALUE);
          out.writeByteString(bytes).writeBytes(bytes);
          ByteReader in = new ByteReader(out.array(), 0, out.length());
          assertEquals((byte) ints, in.readByte());
          assertEquals(ints & 0xffff, in.readUnsignedShort());
          assertEquals(ints, in.readInt());
          assertEquals(longs, in.readLong());
          assertEquals(longs, in.readVarlong());
          assertEquals(ints & Integer.MAX_VALUE, in.readVarint());
          assertArrayEquals(bytes, in.readByteString());
          assertArrayEquals(bytes, in.readBytes(bytes.length));
          assertEquals(0, in.remaining());
          assertThrows(MalformedBytesException.class, in::readByte);
        });
  }

  @Test
  void readerNeverLeavesItsPart() {
    Seeds.run(
        2000,
        random -> {
          byte[] bytes = new byte[40];
          random.nextBytes(bytes);
          int offset = random.nextInt(20);
          int length = random.nextInt(20);
          ByteReader in = new ByteReader(bytes, offset, length);
          try {
            while (true) {
              switch (random.nextInt(8)) {
                case 0 -> in.readByte();
                case 1 -> in.readInt();
                case 2 -> in.readLong();
                case 3 -> in.readVarint();
                case 4 -> in.readVarlong();
                case 5 -> in.readByteString();
                case 6 -> in.skip(random.nextInt(5));
                default -> in.readUnsignedShort();
              }
              assertTrue(in.position() <= offset + length && in.remaining() >= 0);
            }
          } catch (MalformedBytesException e) {
            assertTrue(in.position() <= offset + length);
          }
        });
  }

  @Test
  void lyingLengthsReserveNothing() {
    for (String lie : List.of("ffffffff07", "8080808004", "ffffffffffffffffff01", "ff")) {
      byte[] bytes = HexFormat.of().parseHex(lie);
      assertThrows(MalformedBytesException.class, () -> new ByteReader(bytes).readByteString());
    }
    assertThrows(MalformedBytesException.class, () -> new ByteReader(new byte[4]).readBytes(-1));
    assertThrows(
        IndexOutOfBoundsException.class, () -> new ByteReader(new byte[4], 2, 3).remaining());
  }
}
