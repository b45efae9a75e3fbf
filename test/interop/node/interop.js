/*
 * A program in another language: everything that a caller can do with a Stele server, and every error that it can meet,
 * with Apache Thrift's Node.js library and the code that the Thrift compiler makes of the IDL. Nothing of Stele's own.
 *
 *     node interop.js HOST:PORT             the whole, over compact and binary, with and without service names
 *     node interop.js --tls FILE HOST:PORT  the same with TLS, in fewer combinations; FILE has the certificate to trust
 *     node interop.js --crowded HOST:PORT   too many calls for a small server that has the table "unicode"
 *
 * Each check prints a line; the last line is "N passed, M failed". Exit status 1 if a check failed.
 */
"use strict";

const assert = require("node:assert/strict");
const { once } = require("node:events");
const { readFileSync } = require("node:fs");
const thrift = require("thrift");
const NewerServerService = require("newer/ServerService");
const NewerTabletService = require("newer/TabletService");
const newer = require("newer/newer_types");
const ServerService = require("stele/ServerService");
const TableService = require("stele/TableService");
const TabletService = require("stele/TabletService");
const types = require("stele/stele_types");

const { Column, Durability, ErrorCode, Key, LookupRequest, Mutation } = types;
const { Range, ScanRequest, SteleError, Update, UpdateType, WriteRequest } = types;
const { TApplicationException, TApplicationExceptionType } = thrift.Thrift;

const PROTOCOLS = { compact: thrift.TCompactProtocol, binary: thrift.TBinaryProtocol };
const TIMEOUT_MILLIS = 120_000; // of a check
const SERVICES = { ServerService, TableService, TabletService };
const NEWER_SERVICES = { ServerService: NewerServerService, TabletService: NewerTabletService };

/** Where a server is, and which certificate it has, if its connections are encrypted. */
class Server {
  constructor(address, certificate) {
    const colon = address.lastIndexOf(":");
    this.address = address;
    this.host = address.slice(0, colon);
    this.port = Number(address.slice(colon + 1));
    this.certificate = certificate;
  }

  connect(options) {
    if (this.certificate === undefined) {
      return thrift.createConnection(this.host, this.port, options);
    }
    const ca = readFileSync(this.certificate);
    return thrift.createSSLConnection(this.host, this.port, { ...options, ca });
  }
}

/**
 * Clients of all services. With service names they share one connection; without, each has its own: the library
 * keeps one client for each connection and service name.
 */
class Connection {
  constructor(at, protocol, multiplexed, { services = SERVICES, transport = thrift.TFramedTransport } = {}) {
    this.at = at;
    this.services = services;
    this.options = { protocol: PROTOCOLS[protocol], transport };
    this.multiplexer = multiplexed ? new thrift.Multiplexer() : null;
    this.open = [];
    this.clients = {};
    this.errors = [];
  }

  connection() {
    if (this.multiplexer !== null && this.open.length > 0) {
      return this.open[0];
    }
    const connection = this.at.connect(this.options);
    connection.on("error", (error) => this.errors.push(error));
    this.open.push(connection);
    return connection;
  }

  /** The client of a service; `name` is what a multiplexing one writes in front. */
  client(service, name = service) {
    if (this.clients[name] === undefined) {
      const connection = this.connection();
      this.clients[name] =
        this.multiplexer === null
          ? thrift.createClient(this.services[service], connection)
          : this.multiplexer.createClient(name, this.services[service], connection);
    }
    return this.clients[name];
  }

  get tables() {
    return this.client("TableService");
  }

  get tablets() {
    return this.client("TabletService");
  }

  get server() {
    return this.client("ServerService");
  }

  close() {
    this.open.forEach((connection) => connection.end());
  }
}

class Report {
  constructor() {
    this.passed = 0;
    this.failed = 0;
  }

  async check(name, body) {
    try {
      await within(TIMEOUT_MILLIS, body());
      this.passed++;
      console.log(`ok      ${name}`);
    } catch (error) {
      this.failed++;
      console.log(`FAILED  ${name}`);
      console.log(shortened(String(error instanceof Error ? error.stack : error)));
    }
  }

  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}

function within(millis, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${millis} ms`)), millis);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function shortened(text) {
  return text === undefined || text.length < 2000 ? text : `${text.slice(0, 2000)}… (${text.length} characters)`;
}

function contains(text, part) {
  assert.ok(text.includes(part), `"${part}" is not in "${shortened(text)}"`);
}

function codeName(code) {
  return Object.keys(ErrorCode).find((name) => ErrorCode[name] === code);
}

/** The call fails with the IDL's exception with this code, and this text in its message. */
async function fails(code, text, call, type = SteleError) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    assert.ok(error instanceof type, `${error.name}: ${error.message}`);
    assert.equal(codeName(error.code), codeName(code));
    contains(error.message, text);
    return error;
  }
  assert.fail(`no error ${codeName(code)}, but ${shortened(JSON.stringify(answer))}`);
}

/** The call fails with Thrift's own exception. */
async function isNoCall(type, text, call) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    assert.ok(error instanceof TApplicationException, `${error.name}: ${error.message}`);
    assert.equal(error.type, type);
    contains(error.message, text);
    return;
  }
  assert.fail(`no exception, but ${shortened(JSON.stringify(answer))}`);
}

/** Bytes as text that shows each of them, so that differences can be read. */
function text(bytes) {
  return Buffer.from(bytes).toString("latin1");
}

function bytes(latin1) {
  return Buffer.from(latin1, "latin1");
}

function plain(cells) {
  return cells.map((cell) => [
    ...[cell.row, cell.family, cell.qualifier, cell.visibility].map(text),
    cell.timestamp.toNumber(),
    text(cell.value),
  ]);
}

/** Packed cells, as docs/formats/wire.md describes them. */
function unpack(packed) {
  let at = 1;
  assert.equal(packed[0], 1);
  const varint = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = packed[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  const take = (length) => {
    assert.ok(length <= packed.length - at, "packed cells are cut off");
    at += length;
    return text(packed.subarray(at - length, at));
  };
  const cells = [];
  const parts = ["", "", "", ""];
  let timestamp = 0n;
  while (at < packed.length) {
    const flags = packed[at++];
    for (let i = 0; i < 4; i++) {
      if ((flags & (1 << i)) === 0) {
        const shared = Number(varint());
        parts[i] = parts[i].slice(0, shared) + take(Number(varint()));
      }
    }
    if ((flags & 0x10) === 0) {
      const zigzag = varint();
      timestamp += (zigzag >> 1n) ^ -(zigzag & 1n);
    }
    cells.push([...parts, Number(timestamp), take(Number(varint()))]);
  }
  return cells;
}

function put(family, qualifier, value, timestamp, visibility) {
  return new Update({
    type: UpdateType.PUT,
    family: bytes(family),
    qualifier: bytes(qualifier),
    value: bytes(value),
    timestamp,
    visibility: visibility === undefined ? undefined : bytes(visibility),
  });
}

function mutation(row, updates) {
  return new Mutation({ row: bytes(row), updates });
}

function deletion(type, family, qualifier, timestamp) {
  const part = (value) => (value === undefined ? undefined : bytes(value));
  return new Update({ type, family: part(family), qualifier: part(qualifier), timestamp });
}

function range(start, startInclusive, stop, stopInclusive) {
  const key = (row) => (row === undefined ? undefined : new Key({ row: bytes(row) }));
  return new Range({ start: key(start), startInclusive, stop: key(stop), stopInclusive });
}

function compareBytes(a, b) {
  return Buffer.compare(bytes(a), bytes(b));
}

// ---- The checks

/** One combination of protocol and service names, with a table of its own. */
class Session {
  static ROWS = 300;
  static SPLITS = ["g", "p\x00\xff"];

  constructor(at, protocol, multiplexed, report) {
    this.at = at;
    this.address = at.address;
    this.protocol = protocol;
    this.multiplexed = multiplexed;
    this.report = report;
    const security = at.certificate === undefined ? "" : ", TLS";
    this.label = `Node.js, ${protocol}, ${multiplexed ? "with" : "without"} service names${security}`;
    this.table = `node_${protocol}_${multiplexed}`;
    this.expected = []; // what the table holds, in key order
  }

  connect(more) {
    return new Connection(this.at, this.protocol, this.multiplexed, more);
  }

  async run() {
    this.connection = this.connect();
    this.newer = this.connect({ services: NEWER_SERVICES });
    const bodies = [
      this.serverTellsAboutItself,
      this.tableWithSplits,
      this.writes,
      this.lookups,
      this.lookupLargerThanAnAnswer,
      this.longRowWithManyCells,
      this.scanOfAllBatches,
      this.rangesAndColumns,
      this.rowLargerThanABatch,
      this.packedAndPlainSayTheSame,
      this.packedMutations,
      this.deletes,
      this.flushAndCompactionChangeNothing,
      this.manyCallsAtOnce,
      this.fieldsOfANewerProgram,
      this.oneway,
      this.errorsOfTables,
      this.errorsOfReads,
      this.malformedMutations,
      this.staleLocation,
      this.unknownMethods,
      this.missingParts,
      this.frameTooLarge,
      this.noFrame,
      this.deletionOfTheTable,
    ];
    for (const body of bodies) {
      const words = body.name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      await this.report.check(`${this.label}: ${words}`, () => body.call(this));
    }
    await this.report.check(`${this.label}: no stray errors of the connection`, async () =>
      assert.deepEqual([...this.connection.errors, ...this.newer.errors], []),
    );
    this.connection.close();
    this.newer.close();
  }

  async serverTellsAboutItself() {
    const status = await this.connection.server.status();
    assert.equal(status.ready, true);
    assert.equal(status.address, this.address);
    for (const size of [0, 1, 100_000]) {
      const answer = await this.connection.server.ping(bytes("\x00\xff"), size);
      assert.deepEqual(answer, Buffer.alloc(size));
    }
    assert.ok("rpc.frame.max" in (await this.connection.server.settings()));
  }

  async tableWithSplits() {
    const { tables } = this.connection;
    const splits = [...Session.SPLITS].reverse().map(bytes);
    this.id = await tables.createTable(this.table, splits, { "table.versions": "1" });
    const info = await tables.describeTable(this.table);
    assert.deepEqual([info.name, info.id, info.settings["table.versions"]], [this.table, this.id, "1"]);
    const same = (await tables.listTables()).filter((table) => table.name === this.table);
    assert.deepEqual(
      same.map((table) => table.id),
      [this.id],
    );
    const locations = await tables.locate(this.id, Buffer.alloc(0), 0);
    const ends = (part) => locations.map(({ extent }) => (extent[part] === null ? null : text(extent[part])));
    assert.deepEqual(ends("previousEndRow"), [null, ...Session.SPLITS]);
    assert.deepEqual(ends("endRow"), [...Session.SPLITS, null]);
    for (const location of locations) {
      assert.deepEqual([location.address, location.extent.tableId], [this.address, this.id]);
    }
    const [one, ...more] = await tables.locate(this.id, bytes("g\x00"), 1);
    assert.deepEqual([text(one.extent.endRow), more.length], [Session.SPLITS[1], 0]);
  }

  async write(mutations, durability) {
    const request = new WriteRequest({ tableId: this.id, mutations, durability });
    const result = await this.connection.tablets.write(request);
    assert.deepEqual(result.failures ?? [], []);
  }

  async writes() {
    const rows = Array.from({ length: Session.ROWS }, (_, i) =>
      String.fromCharCode(65 + (i % 60), i % 256).concat("\x00\xff".repeat(i % 3)),
    ).sort(compareBytes);
    const reversed = (row) => [...row].reverse().join("");
    for (const durability of [undefined, ...Object.values(Durability)]) {
      const batch = durability === undefined ? rows : rows.slice(0, 3);
      await this.write(
        batch.map((row) => mutation(row, [put("a", "", reversed(row), 1000), put("b\x00", "q", "", 7, "v")])),
        durability,
      );
    }
    for (const row of rows) {
      this.expected.push([row, "a", "", "", 1000, reversed(row)], [row, "b\x00", "q", "v", 7, ""]);
    }
  }

  lookup(row, more) {
    return this.connection.tablets.lookup(
      new LookupRequest({ tableId: this.id, row: bytes(row), plain: true, ...more }),
    );
  }

  async cellsOf(row, more) {
    return plain((await this.lookup(row, more)).cells);
  }

  async lookups() {
    for (const row of [this.expected[0][0], "g", this.expected.at(-1)[0]]) {
      assert.deepEqual(
        await this.cellsOf(row),
        this.expected.filter((cell) => cell[0] === row),
      );
    }
    const row = this.expected[0][0];
    const column = (family, qualifier) =>
      new Column({ family: bytes(family), qualifier: qualifier === undefined ? undefined : bytes(qualifier) });
    assert.deepEqual(await this.cellsOf(row, { columns: [column("a")] }), this.expected.slice(0, 1));
    assert.deepEqual(
      await this.cellsOf(row, { columns: [column("b\x00", "q"), column("c")] }),
      this.expected.slice(1, 2),
    );
    assert.deepEqual(await this.cellsOf(row, { columns: [column("b\x00", "other")] }), []);
    assert.deepEqual(await this.cellsOf("no such row"), []);
    assert.equal(text((await this.lookup("no such row", { plain: false })).packed), "\x01");
  }

  async lookupLargerThanAnAnswer() {
    const row = "large";
    const names = Array.from({ length: 200 }, (_, i) => String(i).padStart(4, "0"));
    await this.write([
      mutation(
        row,
        names.map((name) => put("f", name, "\x00".repeat(500), 1)),
      ),
    ]);
    const answer = await this.lookup(row, { maxBytes: 20_000 });
    assert.equal(answer.more, true);
    const { position, readSequence } = answer;
    const rest = await this.scanExtent({ range: range(row, true, row, true), plain: true, position, readSequence });
    const cells = [...plain(answer.cells), ...rest.cells];
    assert.deepEqual(
      cells.map((cell) => cell[2]),
      names,
    );
    await this.write([mutation(row, [deletion(UpdateType.DELETE_ROW)])]);
  }

  /** Cells of one row share it when they are packed; as a list they are far more than one answer. */
  async longRowWithManyCells() {
    const row = "l".repeat(20_000);
    const names = Array.from({ length: 400 }, (_, i) => String(i).padStart(4, "0"));
    await this.write([
      mutation(
        row,
        names.map((name) => put("f", name, "v", 1)),
      ),
    ]);
    const answer = await this.lookup(row);
    assert.equal(answer.more, true);
    assert.ok(answer.cells.length * row.length < 2 << 20, `${answer.cells.length} cells in one answer`);
    const all = await this.scanExtent({ range: range(row, true, row, true), plain: true });
    for (const { cells } of [all, { cells: unpack((await this.lookup(row, { plain: false })).packed) }]) {
      assert.deepEqual(
        cells.map((cell) => cell[2]),
        names,
      );
    }
    assert.ok(all.batches >= 5, `${all.batches} batches`);
    await this.write([mutation(row, [deletion(UpdateType.DELETE_ROW)])]);
  }

  /** All batches of a scan in one tablet. */
  async scanExtent(parts) {
    const request = new ScanRequest({ tableId: this.id, ...parts });
    const cells = [];
    for (let batches = 1; ; batches++) {
      const batch = await this.connection.tablets.scan(request);
      assert.ok(!batch.viewChanged);
      cells.push(...(request.plain ? plain(batch.cells) : unpack(batch.packed)));
      if (batch.atEnd) {
        return { cells, batches, extent: batch.extent };
      }
      request.position = batch.position;
      request.readSequence = batch.readSequence;
    }
  }

  /** All cells of a range over all tablets, as a client goes from extent to extent. */
  async scan({ range: keyRange = new Range(), ...limits } = {}) {
    const cells = [];
    let batches = 0;
    let rest = keyRange;
    for (let extents = 1; ; extents++) {
      const part = await this.scanExtent({ range: rest, plain: true, ...limits });
      cells.push(...part.cells);
      batches += part.batches;
      const end = part.extent.endRow;
      if (end === null || (rest.stop !== null && Buffer.compare(rest.stop.row, end) <= 0)) {
        return { cells, batches, extents };
      }
      const { stop, stopInclusive } = rest;
      rest = new Range({ start: new Key({ row: end }), startInclusive: false, stop, stopInclusive });
    }
  }

  async scanOfAllBatches() {
    for (const limits of [{}, { maxCells: 7 }, { maxRows: 5 }, { maxBytes: 100 }, { maxCells: 1 }]) {
      const { cells, extents, batches } = await this.scan(limits);
      assert.deepEqual(cells, this.expected);
      assert.equal(extents, 3);
      assert.ok(Object.keys(limits).length === 0 || batches >= 20, `${batches} batches`);
    }
  }

  async rangesAndColumns() {
    const rows = [...new Set(this.expected.map((cell) => cell[0]))];
    const [first, last] = [rows[10], rows.at(-10)];
    for (const withFirst of [true, false]) {
      for (const withLast of [true, false]) {
        const { cells } = await this.scan({ range: range(first, withFirst, last, withLast) });
        const expected = rows.slice(withFirst ? 10 : 11, rows.length - (withLast ? 9 : 10));
        assert.deepEqual([...new Set(cells.map((cell) => cell[0]))], expected);
      }
    }
    const within = range(first, true, first, true);
    within.start.family = bytes("b\x00");
    assert.deepEqual(
      (await this.scan({ range: within })).cells,
      this.expected.filter((cell) => cell[0] === first && cell[1] === "b\x00"),
    );
    const columns = [new Column({ family: bytes("b\x00"), qualifier: bytes("q") })];
    assert.deepEqual(
      (await this.scan({ columns, bypassCache: true })).cells,
      this.expected.filter((cell) => cell[1] === "b\x00"),
    );
    assert.deepEqual((await this.scan({ columns: [new Column({ family: bytes("none") })] })).cells, []);
  }

  async rowLargerThanABatch() {
    const row = "h wide";
    const names = Array.from({ length: 100 }, (_, i) => String(i).padStart(3, "0"));
    await this.write([
      mutation(
        row,
        names.map((name) => put("f", name, "v", 5)),
      ),
    ]);
    const parts = { range: range(row, true, row, true), maxCells: 30, plain: true };
    const batch = await this.connection.tablets.scan(new ScanRequest({ tableId: this.id, ...parts }));
    assert.deepEqual([batch.cells.length, batch.rowContinues, batch.atEnd], [30, true, false]);
    const { position, readSequence } = batch;
    const { cells, batches } = await this.scanExtent({ ...parts, position, readSequence });
    assert.deepEqual(
      cells.map((cell) => cell[2]),
      names.slice(30),
    );
    assert.equal(batches, 3);
    await this.write([mutation(row, [deletion(UpdateType.DELETE_ROW)])]);
  }

  async packedAndPlainSayTheSame() {
    assert.deepEqual((await this.scan({ plain: false })).cells, this.expected);
    const answer = await this.lookup(this.expected[0][0], { plain: false });
    assert.deepEqual(unpack(answer.packed), this.expected.slice(0, 2));
  }

  async packedMutations() {
    // Two mutations: row "ada" puts name:full and deletes name:nick up to 1000; row "bob" is deleted.
    const packed = Buffer.from(
      "01020361646102" +
        "0113046e616d650466756c6c05416461204c" +
        "030b046e616d65046e69636b00000000000003e803626f62010500",
      "hex",
    );
    const result = await this.connection.tablets.write(new WriteRequest({ tableId: this.id, packed }));
    assert.deepEqual(result.failures ?? [], []);
    const [[row, family, qualifier, , , value], ...more] = await this.cellsOf("ada");
    assert.deepEqual([row, family, qualifier, value, more], ["ada", "name", "full", "Ada L", []]);
    await this.write([mutation("ada", [deletion(UpdateType.DELETE_ROW)])]);
  }

  async deletes() {
    const row = "m deleted";
    const columns = async () => (await this.cellsOf(row)).map((cell) => cell[1] + cell[2]).join(" ");
    const change = (...updates) => this.write([mutation(row, updates)]);
    await change(put("f", "1", "v", 10), put("f", "2", "v", 10), put("g", "1", "v", 10), put("g", "2", "v", 10));
    await change(deletion(UpdateType.DELETE_COLUMN, "f", "1", 9)); // older than the cell
    assert.equal(await columns(), "f1 f2 g1 g2");
    await change(deletion(UpdateType.DELETE_COLUMN, "f", "1"));
    assert.equal(await columns(), "f2 g1 g2");
    await change(deletion(UpdateType.DELETE_FAMILY, "f"));
    assert.equal(await columns(), "g1 g2");
    await change(deletion(UpdateType.DELETE_ROW));
    assert.equal(await columns(), "");
    assert.deepEqual((await this.scan()).cells, this.expected);
  }

  async flushAndCompactionChangeNothing() {
    await this.connection.tables.flushTable(this.table);
    assert.deepEqual((await this.scan({ maxCells: 50 })).cells, this.expected);
    await this.connection.tables.compactTable(this.table);
    assert.deepEqual((await this.scan({ maxCells: 50 })).cells, this.expected);
  }

  async manyCallsAtOnce() {
    const rows = [...new Set(this.expected.map((cell) => cell[0]))].slice(0, 200);
    const answers = await Promise.all(rows.map((row) => this.lookup(row)));
    assert.deepEqual(
      answers.map((answer) => text(answer.cells[0].row)),
      rows,
    );
  }

  async fieldsOfANewerProgram() {
    const row = this.expected[0][0];
    const hints = [
      new newer.Hint({ name: "why", weight: 0.5, places: { 1: [bytes("x"), bytes("y")] }, flags: [true] }),
      new newer.Hint({ name: "else" }),
    ];
    const request = new newer.LookupRequest({ tableId: this.id, row: bytes(row), plain: true, hints, patience: 1 << 30 });
    const answer = await this.newer.tablets.lookup(request, { zone: "a" });
    assert.deepEqual(plain(answer.cells), this.expected.slice(0, 2));
  }

  async oneway() {
    this.newer.server.ping(Buffer.alloc(0), 10);
    const request = new newer.LookupRequest({ tableId: this.id, row: bytes("none"), plain: true });
    assert.deepEqual((await this.newer.tablets.lookup(request, {})).cells, []);
    await this.connection.server.ping(Buffer.alloc(0), 0);
  }

  async errorsOfTables() {
    const { tables, server } = this.connection;
    const missing = `none_${this.table}`;
    const create = (name, splits = [], settings = {}) => tables.createTable(name, splits, settings);
    await fails(ErrorCode.TABLE_EXISTS, this.table, () => create(this.table));
    await fails(ErrorCode.UNKNOWN_TABLE, missing, () => tables.describeTable(missing));
    await fails(ErrorCode.UNKNOWN_TABLE, missing, () => tables.deleteTable(missing));
    await fails(ErrorCode.UNKNOWN_TABLE, missing, () => tables.flushTable(missing));
    await fails(ErrorCode.UNKNOWN_TABLE, missing, () => tables.compactTable(missing));
    await fails(ErrorCode.UNKNOWN_TABLE, "no-such-id", () => tables.locate("no-such-id", Buffer.alloc(0), 10));
    await fails(ErrorCode.BAD_REQUEST, "no table name", () => create("a b"));
    await fails(ErrorCode.BAD_REQUEST, "no table name", () => create(""));
    await fails(ErrorCode.BAD_REQUEST, "name", () => create(null));
    await fails(ErrorCode.BAD_REQUEST, "stele.", () => create("stele.mine"));
    await fails(ErrorCode.BAD_REQUEST, "split", () => create("t", [Buffer.alloc(0)]));
    await fails(ErrorCode.TOO_LARGE, "split", () => create("t", [Buffer.alloc(2 << 20)]));
    await fails(ErrorCode.BAD_REQUEST, "table.colour", () => create("t", [], { "table.colour": "red" }));
    await fails(ErrorCode.BAD_REQUEST, "rpc.port", () => create("t", [], { "rpc.port": "1" }));
    await fails(ErrorCode.BAD_REQUEST, "zero", () => create("t", [], { "table.versions": "zero" }));
    await fails(ErrorCode.BAD_REQUEST, "limit", () => tables.locate(this.id, Buffer.alloc(0), -1));
    await fails(ErrorCode.DENIED, "stele.metadata", () => tables.deleteTable("stele.metadata"));
    await fails(ErrorCode.TOO_LARGE, "1000000000", () => server.ping(Buffer.alloc(0), 1_000_000_000));
  }

  async errorsOfReads() {
    const scan = (parts) =>
      this.connection.tablets.scan(new ScanRequest({ tableId: this.id, range: new Range(), ...parts }));
    await fails(ErrorCode.BAD_REQUEST, "row", () => this.lookup(""));
    await fails(ErrorCode.BAD_REQUEST, "maxBytes", () => this.lookup("a", { maxBytes: -1 }));
    for (const limit of ["maxRows", "maxCells", "maxBytes"]) {
      await fails(ErrorCode.BAD_REQUEST, limit, () => scan({ [limit]: -5 }));
    }
    await fails(ErrorCode.BAD_REQUEST, "position", () => scan({ position: bytes("\x01"), readSequence: 1 }));
    await fails(ErrorCode.BAD_REQUEST, "", () => scan({ range: range("b", true, "a", true) }));
    const gap = range("a");
    gap.start.qualifier = bytes("q");
    await fails(ErrorCode.BAD_REQUEST, "lacks a part", () => scan({ range: gap }));
  }

  async malformedMutations() {
    const good = mutation("never", [put("f", "q", "v")]);
    const write = (parts) => this.connection.tablets.write(new WriteRequest({ tableId: this.id, ...parts }));
    const malformed = {
      row: mutation("", [put("f", "q", "v")]),
      type: mutation("never", [new Update({ type: 99, family: bytes("f") })]),
      "type ": mutation("never", [new Update({ type: 2, family: bytes("f") })]),
    };
    for (const [part, bad] of Object.entries(malformed)) {
      await fails(ErrorCode.BAD_REQUEST, part.trim(), () => write({ mutations: [good, bad] }));
    }
    const large = mutation("never", [put("f", "q", "v".repeat((16 << 20) + 1))]);
    await fails(ErrorCode.TOO_LARGE, "16777216", () => write({ mutations: [good, large] }));
    const long = mutation("r".repeat(1 << 20), [put("f", "q", "")]);
    await fails(ErrorCode.TOO_LARGE, "1048576", () => write({ mutations: [good, long] }));
    await fails(ErrorCode.BAD_REQUEST, "packed", () => write({}));
    await fails(ErrorCode.BAD_REQUEST, "packed", () => write({ packed: bytes("\x01\x00"), mutations: [good] }));
    for (const packed of ["", "\x02", "\x01\x01", "\x01\xff\xff\xff\xff\x0f", "\x01\x00\x00"]) {
      await fails(ErrorCode.BAD_REQUEST, "", () => write({ packed: bytes(packed) }));
    }
    await fails(ErrorCode.DENIED, "metadata", () => write({ tableId: "0", mutations: [good] }));
    assert.deepEqual(await this.cellsOf("never"), []); // nothing of a refused batch is done
    // A mutation that is well formed but does nothing fails alone.
    const { failures } = await write({ mutations: [mutation("n", [put("f", "q", "v")]), mutation("never", [])] });
    assert.deepEqual(
      failures.map(({ index, error }) => [index, error.code]),
      [[1, ErrorCode.BAD_REQUEST]],
    );
    contains(failures[0].error.message, "no updates");
    await this.write([mutation("n", [deletion(UpdateType.DELETE_ROW)])]);
  }

  /** A table id that is not served here (any more). */
  async staleLocation() {
    const { tablets } = this.connection;
    for (const tableId of ["no-such-id", ""]) {
      await fails(ErrorCode.NOT_SERVING, "", () => this.lookup("row", { tableId }));
      await fails(ErrorCode.NOT_SERVING, "", () => tablets.scan(new ScanRequest({ tableId, range: new Range() })));
      const mutations = ["a", "b"].map((row) => mutation(row, [put("f", "q", "v")]));
      const { failures } = await tablets.write(new WriteRequest({ tableId, mutations }));
      assert.deepEqual(
        failures.map(({ index, error }) => [index, error.code]),
        [
          [0, ErrorCode.NOT_SERVING],
          [1, ErrorCode.NOT_SERVING],
        ],
      );
    }
  }

  async unknownMethods() {
    const { UNKNOWN_METHOD } = TApplicationExceptionType;
    await isNoCall(UNKNOWN_METHOD, "repair", () => this.newer.tablets.repair("t"));
    if (this.multiplexed) {
      for (const service of ["NoSuchService", "TableService"]) {
        const lost = this.connect();
        const request = new LookupRequest({ tableId: this.id, row: bytes("a") });
        const lookup = () => lost.client("TabletService", service).lookup(request);
        await isNoCall(UNKNOWN_METHOD, `${service}:lookup`, lookup);
        assert.deepEqual(lost.errors, []);
        lost.close();
      }
    }
    await this.connection.server.ping(Buffer.alloc(0), 0); // the connection goes on
  }

  /** What the IDL requires is not there; with the IDL itself the library would not send that. */
  async missingParts() {
    const { tablets } = this.connection;
    for (const call of ["lookup", "scan", "write"]) {
      await fails(ErrorCode.BAD_REQUEST, "request", () => tablets[call](null));
    }
    for (const part of ["row", "tableId"]) {
      const request = new newer.LookupRequest({ tableId: this.id, row: bytes("a"), [part]: null });
      await fails(ErrorCode.BAD_REQUEST, part, () => this.newer.tablets.lookup(request, {}), newer.SteleError);
    }
    await this.connection.server.ping(Buffer.alloc(0), 0);
  }

  async frameTooLarge() {
    const connection = this.connect();
    const { server } = connection;
    const most = sizeOf((await server.settings())["rpc.frame.max"]);
    assert.equal((await server.ping(Buffer.alloc(most - 1000), 1)).length, 1);
    const end = once(connection.open[0], "close");
    await fails(ErrorCode.TOO_LARGE, `rpc.frame.max (${most} bytes)`, () => server.ping(Buffer.alloc(most), 1));
    await end;
    await this.connection.server.ping(Buffer.alloc(0), 0);
  }

  async noFrame() {
    const connection = this.connect({ transport: thrift.TBufferedTransport });
    const { server } = connection;
    const end = once(connection.open[0], "close");
    const ping = () => server.ping(Buffer.alloc(0), 0);
    await isNoCall(TApplicationExceptionType.INVALID_PROTOCOL, "TFramedTransport", ping);
    await end;
    assert.deepEqual(connection.errors, []);
  }

  async deletionOfTheTable() {
    const { tables } = this.connection;
    const row = this.expected[0][0];
    await tables.deleteTable(this.table);
    await fails(ErrorCode.UNKNOWN_TABLE, this.table, () => tables.describeTable(this.table));
    await fails(ErrorCode.UNKNOWN_TABLE, this.table, () => tables.deleteTable(this.table));
    await fails(ErrorCode.NOT_SERVING, "", () => this.lookup(row));
    await fails(ErrorCode.UNKNOWN_TABLE, this.id, () => tables.locate(this.id, bytes(row), 1));
    this.id = await tables.createTable(this.table, [], {});
    assert.deepEqual(await this.cellsOf(row), []);
    await tables.deleteTable(this.table);
  }
}

function sizeOf(size) {
  return Number(size.slice(0, -1)) * { K: 1 << 10, M: 1 << 20, G: 1 << 30 }[size.at(-1)];
}

/**
 * Scans that find nothing, from more connections than the server has workers and places to wait.
 * One is answered; the one behind it waits for longer than the server's default deadline allows; those that
 * would come behind that one are refused at once.
 */
async function crowd(server) {
  const asking = new Connection(server, "binary", true);
  const end = Date.now() + TIMEOUT_MILLIS / 2;
  let tableId;
  while (tableId === undefined) {
    try {
      ({ id: tableId } = await asking.tables.describeTable("unicode"));
    } catch (error) {
      // The deadline is short for this call, too.
      if (error.code !== ErrorCode.DEADLINE_EXCEEDED || Date.now() > end) throw error;
    }
  }
  asking.close();
  const columns = [new Column({ family: bytes("none") })];
  const outcomes = new Set();
  const callers = Array.from({ length: 16 }, () => new Connection(server, "binary", false));
  const scan = async ({ tablets }) => {
    try {
      await tablets.scan(new ScanRequest({ tableId, range: new Range(), columns, plain: true }));
      outcomes.add("answered");
    } catch (error) {
      assert.ok(error instanceof SteleError, String(error));
      outcomes.add(codeName(error.code));
      assert.ok(error.code !== ErrorCode.BUSY || error.retryAfterMs > 0, "no proposal when to try again");
    }
  };
  const enough = ["BUSY", "DEADLINE_EXCEEDED", "answered"];
  while (!enough.every((outcome) => outcomes.has(outcome))) {
    assert.ok(Date.now() < end, `only ${[...outcomes]}`);
    await Promise.all(callers.map(scan));
  }
  callers.forEach((caller) => caller.close());
  assert.deepEqual([...outcomes].sort(), enough);
}

/** What a client without TLS meets at a server with it. */
async function notEncrypted({ address }) {
  for (const protocol of Object.keys(PROTOCOLS)) {
    const connection = new Connection(new Server(address), protocol, true);
    const ping = () => connection.server.ping(Buffer.alloc(0), 0);
    await isNoCall(TApplicationExceptionType.INVALID_PROTOCOL, "TLS", ping);
    assert.deepEqual(connection.errors, []);
  }
}

/** What a client meets that does not trust the certificate. */
async function notTrusted({ host, port }) {
  const connection = thrift.createSSLConnection(host, port, { transport: thrift.TFramedTransport });
  const [error] = await once(connection, "error").catch((thrown) => [thrown]);
  assert.match(error.code, /SELF_SIGNED|UNABLE_TO_VERIFY/);
}

async function main(args) {
  const report = new Report();
  if (args[0] === "--crowded") {
    await report.check("Node.js, a crowded server: BUSY and DEADLINE_EXCEEDED", () => crowd(new Server(args[1])));
  } else if (args[0] === "--tls") {
    const server = new Server(args[2], args[1]);
    await new Session(server, "compact", true, report).run();
    await new Session(server, "binary", false, report).run();
    await report.check("Node.js, a client without TLS", () => notEncrypted(server));
    await report.check("Node.js, a client that does not trust the server", () => notTrusted(server));
  } else {
    for (const protocol of Object.keys(PROTOCOLS)) {
      for (const multiplexed of [false, true]) {
        await new Session(new Server(args[0]), protocol, multiplexed, report).run();
      }
    }
  }
  return report.end();
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
