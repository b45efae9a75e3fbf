#!/usr/bin/python3
"""A program in another language: everything that a caller can do with a Stele server, and every error that it can
meet, with Apache Thrift's Python library and the code that the Thrift compiler makes of the IDL. Nothing of Stele's own.

    interop.py HOST:PORT             the whole, over compact and binary, with and without service names
    interop.py --tls FILE HOST:PORT  the same with TLS, in fewer combinations; FILE has the certificate to trust
    interop.py --crowded HOST:PORT   too many calls for a small server that has the table "unicode"

Each check prints a line; the last line is "N passed, M failed". Exit status 1 if a check failed.
"""

import collections
import logging
import ssl
import sys
import threading
import time
import traceback

from newer import ServerService as NewerServerService
from newer import TabletService as NewerTabletService
from newer.ttypes import Hint
from newer.ttypes import LookupRequest as NewerLookupRequest
from stele import ServerService, TableService, TabletService
from stele.ttypes import (
    Column,
    Durability,
    ErrorCode,
    Key,
    LookupRequest,
    Mutation,
    Range,
    ScanRequest,
    SteleError,
    Update,
    UpdateType,
    WriteRequest,
)
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.protocol.TCompactProtocol import TCompactProtocol, TCompactProtocolAccelerated
from thrift.protocol.TMultiplexedProtocol import TMultiplexedProtocol
from thrift.Thrift import TApplicationException
from thrift.transport.TSocket import TSocket
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport, TTransportException

PROTOCOLS = {
    "compact": TCompactProtocol,
    "binary": TBinaryProtocol,
    "compact, in C": TCompactProtocolAccelerated,
    "binary, in C": TBinaryProtocolAccelerated,
}
TIMEOUT_MILLIS = 60_000  # of a call
NO_SERVICE = "NoSuchService"


class Server:
    """Where a server is, and which certificate it has, if its connections are encrypted."""

    def __init__(self, address, certificate=None):
        self.address = address
        self.certificate = certificate

    def socket(self):
        host, port = self.address.rsplit(":", 1)
        if self.certificate is None:
            return TSocket(host, int(port))
        trusting = ssl.create_default_context(cafile=self.certificate)  # checks the name, too
        return TSSLSocket(host, int(port), ssl_context=trusting, validate_callback=lambda *_: None)


class Connection:
    """A connection and the clients of all services on it."""

    def __init__(self, server, protocol, multiplexed, transport=TFramedTransport):
        socket = server.socket()
        socket.setTimeout(TIMEOUT_MILLIS)
        self.transport = transport(socket)
        self.protocol = PROTOCOLS[protocol](self.transport)
        self.multiplexed = multiplexed
        self.transport.open()
        self.tables = self.client(TableService, "TableService")
        self.tablets = self.client(TabletService, "TabletService")
        self.server = self.client(ServerService, "ServerService")

    def client(self, service, name):
        return service.Client(TMultiplexedProtocol(self.protocol, name) if self.multiplexed else self.protocol)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.transport.close()


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, body):
        try:
            body()
        except Exception:  # whatever a check raises fails it
            self.failed += 1
            print(f"FAILED  {name}", flush=True)
            traceback.print_exc(file=sys.stdout)
        else:
            self.passed += 1
            print(f"ok      {name}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.failed == 0 and self.passed > 0 else 1


def equal(found, expected):
    if found != expected:
        raise AssertionError(f"found {shown(found)}\nexpected {shown(expected)}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {shown(text)}")


def shown(value):
    text = repr(value)
    return text if len(text) < 500 else f"{text[:500]}… ({len(text)} characters)"


def fails(code, text, call):
    """The call raises the IDL's exception with this code, and this text in its message."""
    try:
        answer = call()
    except SteleError as e:
        equal(ErrorCode._VALUES_TO_NAMES[e.code], ErrorCode._VALUES_TO_NAMES[code])
        contains(e.message, text)
        return e
    raise AssertionError(f"no error {ErrorCode._VALUES_TO_NAMES[code]}, but {shown(answer)}")


def is_no_call(exception_type, text, call):
    """The call raises Thrift's own exception."""
    try:
        answer = call()
    except TApplicationException as e:
        equal(e.type, exception_type)
        contains(e.message, text)
        return
    raise AssertionError(f"no exception, but {shown(answer)}")


def ends(connection):
    """The server closes the connection."""
    try:
        connection.server.ping(b"", 0)
    except (TTransportException, EOFError, OSError):
        return
    raise AssertionError("the connection is still served")


# ---- Packed cells, as docs/formats/wire.md describes them


def unpack(packed):
    at = 1
    equal(packed[0], 1)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = packed[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(length):
        nonlocal at
        if length > len(packed) - at:
            raise AssertionError("packed cells are cut off")
        at += length
        return packed[at - length : at]

    cells, parts, timestamp = [], [b""] * 4, 0
    while at < len(packed):
        flags = packed[at]
        at += 1
        for i in range(4):
            if not flags & 1 << i:
                shared = varint()
                parts[i] = parts[i][:shared] + take(varint())
        if not flags & 0x10:
            zigzag = varint()
            timestamp += zigzag >> 1 ^ -(zigzag & 1)
        cells.append((*parts, timestamp, take(varint())))
    return cells


def plain(cells):
    return [(c.row, c.family, c.qualifier, c.visibility, c.timestamp, c.value) for c in cells]


def put(family, qualifier, value, timestamp=None, visibility=None):
    return Update(UpdateType.PUT, family, qualifier, visibility, timestamp, value)


# ---- The checks


class Session:
    """One combination of protocol and service names, with a table of its own."""

    ROWS = 300
    SPLITS = [b"g", b"p\x00\xff"]

    def __init__(self, at, protocol, multiplexed, report):
        self.at = at
        self.address = at.address
        self.protocol = protocol
        self.multiplexed = multiplexed
        self.report = report
        security = "" if at.certificate is None else ", TLS"
        self.label = f"Python, {protocol}, {'with' if multiplexed else 'without'} service names{security}"
        self.table = "python_" + "".join(c if c.isalnum() else "_" for c in protocol) + f"_{multiplexed}"
        self.expected = []  # what the table holds, in key order

    def connect(self, transport=TFramedTransport):
        return Connection(self.at, self.protocol, self.multiplexed, transport)

    def run(self):
        with self.connect() as connection:
            self.connection = connection
            self.tables, self.tablets, self.server = connection.tables, connection.tablets, connection.server
            for body in (
                self.server_tells_about_itself,
                self.table_with_splits,
                self.writes,
                self.lookups,
                self.lookup_larger_than_an_answer,
                self.long_row_with_many_cells,
                self.scan_of_all_batches,
                self.ranges_and_columns,
                self.row_larger_than_a_batch,
                self.packed_and_plain_say_the_same,
                self.packed_mutations,
                self.deletes,
                self.flush_and_compaction_change_nothing,
                self.calls_sent_before_answers_are_read,
                self.fields_of_a_newer_program,
                self.oneway,
                self.errors_of_tables,
                self.errors_of_reads,
                self.malformed_mutations,
                self.stale_location,
                self.unknown_methods,
                self.missing_parts,
                self.frame_too_large,
                self.no_frame,
                self.deletion_of_the_table,
            ):
                self.report.check(f"{self.label}: {body.__name__.replace('_', ' ')}", body)

    def server_tells_about_itself(self):
        status = self.server.status()
        equal(status.ready, True)
        equal(status.address, self.address)
        for size in (0, 1, 100_000):
            equal(self.server.ping(b"\x00\xff", size), bytes(size))
        contains(self.server.settings().keys(), "rpc.frame.max")

    def table_with_splits(self):
        self.id = self.tables.createTable(self.table, list(reversed(self.SPLITS)), {"table.versions": "1"})
        info = self.tables.describeTable(self.table)
        equal((info.name, info.id, info.settings["table.versions"]), (self.table, self.id, "1"))
        equal([t.id for t in self.tables.listTables() if t.name == self.table], [self.id])
        locations = self.tables.locate(self.id, b"", 0)
        equal([t.extent.previousEndRow for t in locations], [None, *self.SPLITS])
        equal([t.extent.endRow for t in locations], [*self.SPLITS, None])
        equal({(t.address, t.extent.tableId) for t in locations}, {(self.address, self.id)})
        equal([t.extent.endRow for t in self.tables.locate(self.id, b"g\x00", 1)], [self.SPLITS[1]])

    def write(self, mutations, durability=None):
        result = self.tablets.write(WriteRequest(self.id, mutations=mutations, durability=durability))
        equal(result.failures or [], [])

    def writes(self):
        rows = sorted(bytes([65 + i % 60, i % 256]) + b"\x00\xff" * (i % 3) for i in range(self.ROWS))
        for durability in (None, *sorted(Durability._VALUES_TO_NAMES)):
            batch = rows if durability is None else rows[:3]
            self.write(
                [Mutation(row, [put(b"a", b"", row[::-1], 1000), put(b"b\x00", b"q", b"", 7, b"v")]) for row in batch],
                durability,
            )
        for row in rows:
            self.expected += [(row, b"a", b"", b"", 1000, row[::-1]), (row, b"b\x00", b"q", b"v", 7, b"")]

    def cells_of(self, row, **more):
        return plain(self.tablets.lookup(LookupRequest(self.id, row, plain=True, **more)).cells)

    def lookups(self):
        for row in (self.expected[0][0], b"g", self.expected[-1][0]):
            equal(self.cells_of(row), [c for c in self.expected if c[0] == row])
        row = self.expected[0][0]
        equal(self.cells_of(row, columns=[Column(b"a")]), self.expected[:1])
        equal(self.cells_of(row, columns=[Column(b"b\x00", b"q"), Column(b"c")]), self.expected[1:2])
        equal(self.cells_of(row, columns=[Column(b"b\x00", b"other")]), [])
        equal(self.cells_of(b"no such row"), [])
        equal(self.tablets.lookup(LookupRequest(self.id, b"no such row")).packed, b"\x01")

    def lookup_larger_than_an_answer(self):
        row = b"large"
        updates = [put(b"f", b"%04d" % i, bytes(500), 1) for i in range(200)]
        self.write([Mutation(row, updates)])
        answer = self.tablets.lookup(LookupRequest(self.id, row, plain=True, maxBytes=20_000))
        equal(answer.more, True)
        rest = Range(Key(row), True, Key(row), True)
        cells = plain(answer.cells)
        request = ScanRequest(
            self.id, rest, plain=True, position=answer.position, readSequence=answer.readSequence
        )
        cells += self.scan_extent(request)[0]
        equal([c[2] for c in cells], [b"%04d" % i for i in range(200)])
        self.write([Mutation(row, [Update(UpdateType.DELETE_ROW)])])

    def long_row_with_many_cells(self):
        """Cells of one row share it when they are packed; as a list they are far more than one answer."""
        row = b"l" * 20_000
        names = [b"%04d" % i for i in range(400)]
        self.write([Mutation(row, [put(b"f", name, b"v", 1) for name in names])])
        answer = self.tablets.lookup(LookupRequest(self.id, row, plain=True))
        equal(answer.more, True)
        if len(answer.cells) * len(row) > 2 << 20:
            raise AssertionError(f"{len(answer.cells)} cells of a large row in one answer")
        whole = Range(Key(row), True, Key(row), True)
        cells, _, batches = self.scan_extent(ScanRequest(self.id, whole, plain=True))
        equal([c[2] for c in cells], names)
        equal([c[2] for c in unpack(self.tablets.lookup(LookupRequest(self.id, row)).packed)], names)
        if batches < 5:
            raise AssertionError(f"{batches} batches")
        self.write([Mutation(row, [Update(UpdateType.DELETE_ROW)])])

    def scan_extent(self, request):
        """All batches of a scan in one tablet; its cells, the extent, and how many batches there were."""
        cells, batches = [], 0
        while True:
            batch = self.tablets.scan(request)
            batches += 1
            equal(bool(batch.viewChanged), False)
            cells += plain(batch.cells) if request.plain else unpack(batch.packed)
            if batch.atEnd:
                return cells, batch.extent, batches
            request.position, request.readSequence = batch.position, batch.readSequence

    def scan(self, key_range=None, **limits):
        """All cells of a range over all tablets, as a client goes from extent to extent."""
        key_range = key_range or Range()
        cells, extents, batches = [], 0, 0
        while True:
            request = ScanRequest(self.id, key_range, plain=limits.pop("plain", True), **limits)
            more, extent, count = self.scan_extent(request)
            limits["plain"] = request.plain
            cells, extents, batches = cells + more, extents + 1, batches + count
            end = extent.endRow
            if end is None or (key_range.stop is not None and key_range.stop.row <= end):
                return cells, extents, batches
            key_range = Range(Key(end), False, key_range.stop, key_range.stopInclusive)

    def scan_of_all_batches(self):
        for limits in ({}, {"maxCells": 7}, {"maxRows": 5}, {"maxBytes": 100}, {"maxCells": 1}):
            cells, extents, batches = self.scan(**limits)
            equal(cells, self.expected)
            equal(extents, 3)
            if limits and batches < 20:
                raise AssertionError(f"{limits} made {batches} batches")

    def ranges_and_columns(self):
        rows = sorted({c[0] for c in self.expected})
        first, last = rows[10], rows[-10]
        for with_first in (True, False):
            for with_last in (True, False):
                cells, _, _ = self.scan(Range(Key(first), with_first, Key(last), with_last))
                expected = rows[10 if with_first else 11 : len(rows) - (9 if with_last else 10)]
                equal(sorted({c[0] for c in cells}), expected)
        cells, _, _ = self.scan(Range(Key(first, b"b\x00"), True, Key(first), True))
        equal(cells, [c for c in self.expected if c[0] == first and c[1] == b"b\x00"])
        cells, _, _ = self.scan(columns=[Column(b"b\x00", b"q")], bypassCache=True)
        equal(cells, [c for c in self.expected if c[1] == b"b\x00"])
        equal(self.scan(columns=[Column(b"none")])[0], [])

    def row_larger_than_a_batch(self):
        row = b"h wide"
        self.write([Mutation(row, [put(b"f", b"%03d" % i, b"v", 5) for i in range(100)])])
        key_range = Range(Key(row), True, Key(row), True)
        batch = self.tablets.scan(ScanRequest(self.id, key_range, maxCells=30, plain=True))
        equal((len(batch.cells), batch.rowContinues, batch.atEnd), (30, True, False))
        cells, _, batches = self.scan_extent(
            ScanRequest(
                self.id, key_range, maxCells=30, plain=True, position=batch.position, readSequence=batch.readSequence
            )
        )
        equal([c[2] for c in cells], [b"%03d" % i for i in range(30, 100)])
        equal(batches, 3)
        self.write([Mutation(row, [Update(UpdateType.DELETE_ROW)])])

    def packed_and_plain_say_the_same(self):
        equal(self.scan(plain=False)[0], self.expected)
        row = self.expected[0][0]
        equal(unpack(self.tablets.lookup(LookupRequest(self.id, row)).packed), self.expected[:2])

    def packed_mutations(self):
        # Two mutations: row "ada" puts name:full and deletes name:nick up to 1000; row "bob" is deleted.
        packed = bytes.fromhex(
            "0102 03616461 02 0113 046e616d65 0466756c6c 05416461204c"
            "030b 046e616d65 046e69636b 00000000000003e8 03626f62 01 0500"
        )
        result = self.tablets.write(WriteRequest(self.id, packed=packed))
        equal(result.failures or [], [])
        equal([c[:4] + c[5:] for c in self.cells_of(b"ada")], [(b"ada", b"name", b"full", b"", b"Ada L")])
        self.write([Mutation(b"ada", [Update(UpdateType.DELETE_ROW)])])

    def deletes(self):
        row = b"m deleted"
        self.write([Mutation(row, [put(f, q, b"v", 10) for f in (b"f", b"g") for q in (b"1", b"2")])])
        self.write([Mutation(row, [Update(UpdateType.DELETE_COLUMN, b"f", b"1", timestamp=9)])])
        equal(len(self.cells_of(row)), 4)  # the delete is older than the cell
        self.write([Mutation(row, [Update(UpdateType.DELETE_COLUMN, b"f", b"1")])])
        equal([c[1:3] for c in self.cells_of(row)], [(b"f", b"2"), (b"g", b"1"), (b"g", b"2")])
        self.write([Mutation(row, [Update(UpdateType.DELETE_FAMILY, b"f")])])
        equal([c[1:3] for c in self.cells_of(row)], [(b"g", b"1"), (b"g", b"2")])
        self.write([Mutation(row, [Update(UpdateType.DELETE_ROW)])])
        equal(self.cells_of(row), [])
        equal(self.scan()[0], self.expected)

    def flush_and_compaction_change_nothing(self):
        self.tables.flushTable(self.table)
        equal(self.scan(maxCells=50)[0], self.expected)
        self.tables.compactTable(self.table)
        equal(self.scan(maxCells=50)[0], self.expected)

    def calls_sent_before_answers_are_read(self):
        rows = [c[0] for c in self.expected[::2]][:100]
        for row in rows:
            self.tablets.send_lookup(LookupRequest(self.id, row, plain=True))
        equal([self.tablets.recv_lookup().cells[0].row for _ in rows], rows)

    def fields_of_a_newer_program(self):
        newer = self.connection.client(NewerTabletService, "TabletService")
        row = self.expected[0][0]
        hints = [Hint("why", 0.5, {1: [b"x", b"y"]}, {True}), Hint("else")]
        request = NewerLookupRequest(self.id, row, plain=True, hints=hints, patience=1 << 40)
        equal(plain(newer.lookup(request, {"zone": "a"}).cells), self.expected[:2])

    def oneway(self):
        self.connection.client(NewerServerService, "ServerService").ping(b"", 10)
        equal(self.server.ping(b"", 3), bytes(3))  # and not the answer to the one before

    def errors_of_tables(self):
        tables, missing = self.tables, f"none_{self.table}"
        fails(ErrorCode.TABLE_EXISTS, self.table, lambda: tables.createTable(self.table, [], {}))
        fails(ErrorCode.UNKNOWN_TABLE, missing, lambda: tables.describeTable(missing))
        fails(ErrorCode.UNKNOWN_TABLE, missing, lambda: tables.deleteTable(missing))
        fails(ErrorCode.UNKNOWN_TABLE, missing, lambda: tables.flushTable(missing))
        fails(ErrorCode.UNKNOWN_TABLE, missing, lambda: tables.compactTable(missing))
        fails(ErrorCode.UNKNOWN_TABLE, "no-such-id", lambda: tables.locate("no-such-id", b"", 10))
        fails(ErrorCode.BAD_REQUEST, "no table name", lambda: tables.createTable("a b", [], {}))
        fails(ErrorCode.BAD_REQUEST, "no table name", lambda: tables.createTable("", [], {}))
        fails(ErrorCode.BAD_REQUEST, "name", lambda: tables.createTable(None, [], {}))
        fails(ErrorCode.BAD_REQUEST, "stele.", lambda: tables.createTable("stele.mine", [], {}))
        fails(ErrorCode.BAD_REQUEST, "split", lambda: tables.createTable("t", [b""], {}))
        fails(ErrorCode.TOO_LARGE, "split", lambda: tables.createTable("t", [bytes(2 << 20)], {}))
        fails(ErrorCode.BAD_REQUEST, "table.colour", lambda: tables.createTable("t", [], {"table.colour": "red"}))
        fails(ErrorCode.BAD_REQUEST, "rpc.port", lambda: tables.createTable("t", [], {"rpc.port": "1"}))
        fails(ErrorCode.BAD_REQUEST, "zero", lambda: tables.createTable("t", [], {"table.versions": "zero"}))
        fails(ErrorCode.BAD_REQUEST, "limit", lambda: tables.locate(self.id, b"", -1))
        fails(ErrorCode.DENIED, "stele.metadata", lambda: tables.deleteTable("stele.metadata"))
        fails(ErrorCode.TOO_LARGE, "1000000000", lambda: self.server.ping(b"", 1_000_000_000))

    def errors_of_reads(self):
        lookup, scan, everything = self.tablets.lookup, self.tablets.scan, Range()
        fails(ErrorCode.BAD_REQUEST, "row", lambda: lookup(LookupRequest(self.id, b"")))
        fails(ErrorCode.BAD_REQUEST, "maxBytes", lambda: lookup(LookupRequest(self.id, b"a", maxBytes=-1)))
        for limit in ("maxRows", "maxCells", "maxBytes"):
            request = ScanRequest(self.id, everything, **{limit: -5})
            fails(ErrorCode.BAD_REQUEST, limit, lambda request=request: scan(request))
        malformed = ScanRequest(self.id, everything, position=b"\x01", readSequence=1)
        fails(ErrorCode.BAD_REQUEST, "position", lambda: scan(malformed))
        backwards = Range(Key(b"b"), True, Key(b"a"), True)
        fails(ErrorCode.BAD_REQUEST, "", lambda: scan(ScanRequest(self.id, backwards)))
        gap = Range(Key(b"a", None, b"q"))
        fails(ErrorCode.BAD_REQUEST, "lacks a part", lambda: scan(ScanRequest(self.id, gap)))

    def malformed_mutations(self):
        good = Mutation(b"never", [put(b"f", b"q", b"v")])
        for text, mutation in (
            ("row", Mutation(b"", [put(b"f", b"q", b"v")])),
            ("type", Mutation(b"never", [Update(99, b"f")])),
            ("type", Mutation(b"never", [Update(2, b"f", b"q")])),
        ):
            request = WriteRequest(self.id, mutations=[good, mutation])
            fails(ErrorCode.BAD_REQUEST, text, lambda request=request: self.tablets.write(request))
        write = self.tablets.write
        large = Mutation(b"never", [put(b"f", b"q", bytes((16 << 20) + 1))])
        fails(ErrorCode.TOO_LARGE, "16777216", lambda: write(WriteRequest(self.id, mutations=[good, large])))
        long = Mutation(bytes(1 << 20), [put(b"f", b"q", b"")])
        fails(ErrorCode.TOO_LARGE, "1048576", lambda: write(WriteRequest(self.id, mutations=[good, long])))
        fails(ErrorCode.BAD_REQUEST, "packed", lambda: write(WriteRequest(self.id)))
        fails(ErrorCode.BAD_REQUEST, "packed", lambda: write(WriteRequest(self.id, packed=b"\x01\x00", mutations=[good])))
        for packed in (b"", b"\x02", b"\x01\x01", b"\x01\xff\xff\xff\xff\x0f", b"\x01\x00\x00"):
            request = WriteRequest(self.id, packed=packed)
            fails(ErrorCode.BAD_REQUEST, "", lambda request=request: write(request))
        fails(ErrorCode.DENIED, "metadata", lambda: write(WriteRequest("0", mutations=[good])))
        equal(self.cells_of(b"never"), [])  # nothing of a refused batch is done
        # A mutation that is well formed but does nothing fails alone.
        some = [Mutation(b"n", [put(b"f", b"q", b"v")]), Mutation(b"never", [])]
        failures = write(WriteRequest(self.id, mutations=some)).failures
        equal([(f.index, f.error.code) for f in failures], [(1, ErrorCode.BAD_REQUEST)])
        contains(failures[0].error.message, "no updates")
        self.write([Mutation(b"n", [Update(UpdateType.DELETE_ROW)])])

    def stale_location(self):
        """A table id that is not served here (any more)."""
        for lost in ("no-such-id", ""):
            fails(ErrorCode.NOT_SERVING, "", lambda: self.tablets.lookup(LookupRequest(lost, b"row")))
            fails(ErrorCode.NOT_SERVING, "", lambda: self.tablets.scan(ScanRequest(lost, Range())))
            mutations = [Mutation(row, [put(b"f", b"q", b"v")]) for row in (b"a", b"b")]
            failures = self.tablets.write(WriteRequest(lost, mutations=mutations)).failures
            equal([f.index for f in failures], [0, 1])
            equal({f.error.code for f in failures}, {ErrorCode.NOT_SERVING})

    def unknown_methods(self):
        newer = self.connection.client(NewerTabletService, "TabletService")
        is_no_call(TApplicationException.UNKNOWN_METHOD, "repair", lambda: newer.repair("t"))
        if self.multiplexed:
            for service in (NO_SERVICE, "TableService", ""):
                lost = TabletService.Client(TMultiplexedProtocol(self.connection.protocol, service))
                is_no_call(
                    TApplicationException.UNKNOWN_METHOD,
                    f"{service}:lookup",
                    lambda lost=lost: lost.lookup(LookupRequest(self.id, b"a")),
                )
        self.server.ping(b"", 0)  # the connection goes on

    def missing_parts(self):
        """What the IDL requires is not there."""
        fails(ErrorCode.BAD_REQUEST, "request", lambda: self.tablets.lookup(None))
        fails(ErrorCode.BAD_REQUEST, "row", lambda: self.tablets.lookup(LookupRequest(self.id)))
        fails(ErrorCode.BAD_REQUEST, "tableId", lambda: self.tablets.lookup(LookupRequest(None, b"a")))
        fails(ErrorCode.BAD_REQUEST, "range", lambda: self.tablets.scan(ScanRequest(self.id)))
        fails(ErrorCode.BAD_REQUEST, "updates", lambda: self.write([Mutation(b"a")]))
        fails(ErrorCode.BAD_REQUEST, "row", lambda: self.write([Mutation(None, [])]))
        self.server.ping(b"", 0)

    def frame_too_large(self):
        with self.connect() as connection:
            most = size_of(connection.server.settings()["rpc.frame.max"])
            equal(connection.server.ping(bytes(most - 1000), 1), b"\x00")
            text = f"rpc.frame.max ({most} bytes)"
            fails(ErrorCode.TOO_LARGE, text, lambda: connection.server.ping(bytes(most), 1))
            ends(connection)
        self.server.ping(b"", 0)

    def no_frame(self):
        with self.connect(TBufferedTransport) as connection:
            is_no_call(
                TApplicationException.INVALID_PROTOCOL, "TFramedTransport", lambda: connection.server.ping(b"", 0)
            )
            ends(connection)

    def deletion_of_the_table(self):
        row = self.expected[0][0]
        self.tables.deleteTable(self.table)
        fails(ErrorCode.UNKNOWN_TABLE, self.table, lambda: self.tables.describeTable(self.table))
        fails(ErrorCode.UNKNOWN_TABLE, self.table, lambda: self.tables.deleteTable(self.table))
        fails(ErrorCode.NOT_SERVING, "", lambda: self.tablets.lookup(LookupRequest(self.id, row)))
        fails(ErrorCode.UNKNOWN_TABLE, self.id, lambda: self.tables.locate(self.id, row, 1))
        self.id = self.tables.createTable(self.table, [], {})
        equal(self.cells_of(row), [])
        self.tables.deleteTable(self.table)


def not_encrypted(server):
    """What a client without TLS meets at a server with it."""
    for protocol in ("compact", "binary"):
        with Connection(Server(server.address), protocol, True) as connection:
            ping = connection.server.ping
            is_no_call(TApplicationException.INVALID_PROTOCOL, "TLS", lambda ping=ping: ping(b"", 0))
            ends(connection)
    with Connection(server, "compact", True) as connection:
        connection.server.ping(b"", 0)


def not_trusted(server):
    """What a client meets that does not trust the certificate."""
    socket = TSSLSocket(*server.address.rsplit(":", 1), ssl_context=ssl.create_default_context())
    logging.disable()  # the library writes the trace of what is expected here
    try:
        socket.open()
    except TTransportException:
        return
    finally:
        logging.disable(logging.NOTSET)
    raise AssertionError("a certificate that nobody vouches for was taken")


def size_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]]


def crowd(server):
    """Scans that find nothing, from more connections than the server has workers and places to wait.

    One is answered; the one behind it waits for longer than the server's default deadline allows; those that would
    come behind that one are refused at once.
    """
    end = time.monotonic() + 30
    with Connection(server, "compact", True) as connection:
        table_id = None
        while table_id is None:
            try:
                table_id = connection.tables.describeTable("unicode").id
            except SteleError as e:  # the deadline is short for this call, too
                if e.code != ErrorCode.DEADLINE_EXCEEDED or time.monotonic() > end:
                    raise
    request = ScanRequest(table_id, Range(), columns=[Column(b"none")], plain=True)
    outcomes = collections.Counter()
    errors = []

    def caller():
        with Connection(server, "compact", False) as connection:
            barrier.wait()
            try:
                connection.tablets.scan(request)
                outcomes["answered"] += 1
            except SteleError as e:
                outcomes[ErrorCode._VALUES_TO_NAMES[e.code]] += 1
                errors.append(e)

    while not (outcomes["BUSY"] and outcomes["DEADLINE_EXCEEDED"] and outcomes["answered"]):
        if time.monotonic() > end:
            raise AssertionError(f"only {dict(outcomes)}")
        callers = [threading.Thread(target=caller, name=f"caller-{i}") for i in range(16)]
        barrier = threading.Barrier(len(callers))
        for thread in callers:
            thread.start()
        for thread in callers:
            thread.join()
    equal(set(outcomes), {"answered", "BUSY", "DEADLINE_EXCEEDED"})
    for error in errors:
        if error.code == ErrorCode.BUSY and not error.retryAfterMs > 0:
            raise AssertionError(f"no proposal when to try again: {error}")


def main(arguments):
    logging.basicConfig()
    report = Report()
    if arguments[0] == "--crowded":
        report.check("Python, a crowded server: BUSY and DEADLINE_EXCEEDED", lambda: crowd(Server(arguments[1])))
    elif arguments[0] == "--tls":
        server = Server(arguments[2], arguments[1])
        Session(server, "compact", True, report).run()
        Session(server, "binary", False, report).run()
        report.check("Python, a client without TLS", lambda: not_encrypted(server))
        report.check("Python, a client that does not trust the server", lambda: not_trusted(server))
    else:
        for protocol in PROTOCOLS:
            for multiplexed in (False, True):
                Session(Server(arguments[0]), protocol, multiplexed, report).run()
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
