/*
 * The public interface of a Stele server: any Thrift language is a client.
 *
 * Transport: framed. Protocol: compact or strict binary, recognised frame by frame; TMultiplexedProtocol
 * service names are understood and optional, since method names are unique over all services. In front of a
 * message Stele's own clients put a call header (docs/formats/wire.md); without one a connection runs one
 * call at a time with the default deadline.
 *
 * Rules for changing this file: field ids are never reused, new fields are optional, enum values keep their
 * numbers, methods are never oneway and all of them throw SteleError as field 1.
 */
namespace java org.stele.core.thrift
namespace py stele
namespace js stele

/** What happened, who acts and how: docs/errors.md has the table (retried or not, after which wait). */
enum ErrorCode {
  /** Too much work waits; try again after retryAfterMs. Nothing was done. */
  BUSY = 1,
  /** The call's time was over before it ran (or before a write got its sequence). Nothing was done. */
  DEADLINE_EXCEEDED = 2,
  /** This server does not serve the tablet of that row (any more); look its location up again. */
  NOT_SERVING = 3,
  UNKNOWN_TABLE = 4,
  /** The table is offline, or its tablet cannot be served until an operator decides. */
  OFFLINE = 5,
  DENIED = 6,
  /** The request itself is malformed or breaks a rule; it will never succeed as it is. */
  BAD_REQUEST = 7,
  /** A part of the request is above a limit that the message names. */
  TOO_LARGE = 8,
  /** A condition of a conditional batch does not hold, or a constraint refuses the mutation. */
  CONSTRAINT = 9,
  /** Stored bytes are damaged: file and offset are given. */
  CORRUPT = 10,
  /** Something the server needs (log, coordination, file system) is not there now. */
  UNAVAILABLE = 11,
  /** The write may or may not have been done. */
  UNKNOWN_OUTCOME = 12,
  INTERNAL = 13,
  TABLE_EXISTS = 14
}

exception SteleError {
  1: required ErrorCode code,
  2: required string message,
  /** With BUSY: a good time to wait before the next attempt, in milliseconds. */
  3: optional i32 retryAfterMs,
  /** With CORRUPT: the damaged file and the offset of the damage. */
  4: optional string file,
  5: optional i64 offset
}

/** What must have happened to a write before it is visible and acknowledged; stronger is larger. */
enum Durability {
  /** Nothing: it is not logged, and lost if the process ends before its tablet was flushed. */
  NONE = 1,
  /** Written to the log's file: on a local disk as FLUSH, on HDFS maybe still in the process. */
  LOG = 2,
  /** With the operating system (or the data nodes' memory): survives the end of the process. */
  FLUSH = 3,
  /** On the disk: survives the end of the machine. */
  SYNC = 4
}

/** Names the cells that have all the given parts; a missing part and all after it are free. */
struct Key {
  1: required binary row,
  2: optional binary family,
  3: optional binary qualifier,
  4: optional binary visibility,
  5: optional i64 timestamp
}

/**
 * Keys between two bounds; an absent bound is open. A bound stands for all cells that its parts name:
 * an inclusive bound takes them in, an exclusive one leaves them out.
 */
struct Range {
  1: optional Key start,
  2: optional bool startInclusive = true,
  3: optional Key stop,
  4: optional bool stopInclusive = true
}

/** A family, or one column of it. */
struct Column {
  1: required binary family,
  2: optional binary qualifier
}

/** Rows of one tablet: above previousEndRow, up to and with endRow; an absent end is open. */
struct Extent {
  1: required string tableId,
  2: optional binary previousEndRow,
  3: optional binary endRow
}

struct Cell {
  1: required binary row,
  2: required binary family,
  3: required binary qualifier,
  4: required binary visibility,
  5: required i64 timestamp,
  6: required binary value
}

struct LookupRequest {
  1: required string tableId,
  2: required binary row,
  /** Absent or empty: all columns of the row. */
  3: optional list<Column> columns,
  /** True: the answer comes as a list of cells instead of packed bytes. */
  4: optional bool plain,
  /** The most bytes of cells to answer with, 0 or absent: the server's limit. */
  5: optional i32 maxBytes
}

struct LookupResult {
  /** Packed cells (docs/formats/wire.md), in key order; absent with plain. */
  1: optional binary packed,
  2: optional list<Cell> cells,
  /** True: the row is larger than one answer; go on with a scan after `position`. */
  3: optional bool more,
  4: optional binary position,
  /** The sequence up to which the row was read. */
  5: optional i64 readSequence
}

struct ScanRequest {
  1: required string tableId,
  2: required Range range,
  3: optional list<Column> columns,
  /** Limits of this batch; 0 or absent: the server's. A batch ends at the first that is reached. */
  4: optional i32 maxRows,
  5: optional i32 maxCells,
  6: optional i32 maxBytes,
  7: optional bool plain,
  /** The `position` of the batch before: go on after the key it names. Opaque to the client. */
  8: optional binary position,
  /** With a position inside a row: the `readSequence` at which the row was begun. */
  9: optional i64 readSequence,
  /** True: blocks read are not put into the cache. */
  10: optional bool bypassCache
}

struct ScanResult {
  1: optional binary packed,
  2: optional list<Cell> cells,
  /** The extent that was served: after `atEnd` the client goes on at its end row, nowhere else. */
  3: required Extent extent,
  /** True: nothing of the range is left in this extent. Only this flag says so, never a short batch. */
  4: required bool atEnd,
  /** The last key examined, with its sequence; give it to the next request while `atEnd` is false. */
  5: optional binary position,
  /**
   * True: the batch ends within a row, which goes on in the next batch. It has no other rows, and no cell of this
   * one if the time was over among hidden ones.
   */
  6: optional bool rowContinues,
  7: optional i64 readSequence,
  /**
   * True: the row begun at the request's readSequence can no longer be read as it was then. No cells are
   * given; the client starts that row anew, or, if it has no cell of it, behind the last row it has.
   */
  8: optional bool viewChanged
}

enum UpdateType {
  PUT = 1,
  /** Hides the cells of one column (family, qualifier, visibility) at or before the timestamp. */
  DELETE_COLUMN = 3,
  DELETE_FAMILY = 4,
  DELETE_ROW = 5
}

/** One change of a mutation. A missing timestamp is given by the server. */
struct Update {
  1: required UpdateType type,
  2: optional binary family,
  3: optional binary qualifier,
  4: optional binary visibility,
  5: optional i64 timestamp,
  6: optional binary value
}

/** Changes one row, atomically: it is visible whole or not at all. */
struct Mutation {
  1: required binary row,
  2: required list<Update> updates
}

struct WriteRequest {
  1: required string tableId,
  /** Packed mutations (docs/formats/wire.md), or … */
  2: optional binary packed,
  /** … plain ones; exactly one of the two is given. */
  3: optional list<Mutation> mutations,
  /** Absent: the table's. */
  4: optional Durability durability
}

/** Why one mutation of a batch was not done. */
struct MutationFailure {
  /** Its place in the request, from 0. */
  1: required i32 index,
  2: required SteleError error
}

struct WriteResult {
  /** Absent or empty: every mutation is durable as asked and visible. */
  1: optional list<MutationFailure> failures
}

/** Reads and writes of tablets. */
service TabletService {
  LookupResult lookup(1: LookupRequest request) throws (1: SteleError error),
  ScanResult scan(1: ScanRequest request) throws (1: SteleError error),
  WriteResult write(1: WriteRequest request) throws (1: SteleError error)
}

struct TableInfo {
  1: required string name,
  2: required string id,
  /** All settings of tables: what it was made with, and keeps. */
  3: required map<string, string> settings
}

/** Where a tablet is served; no address: nowhere now. */
struct TabletLocation {
  1: required Extent extent,
  2: required string tabletId,
  /** host:port */
  3: optional string address,
  /** The serving session, and the epoch of its assignment. */
  4: optional string session,
  5: optional i64 epoch,
  /** Why it is not served, in words, if it is not. */
  6: optional string reason
}

/** Table operations; any server takes them, and hands them to the coordinator. */
service TableService {
  /**
   * Answers when every tablet is served. The id of the new table is returned. It keeps the settings
   * given, and for others those that the coordinator's server has as defaults now.
   */
  string createTable(1: string name, 2: list<binary> splits, 3: map<string, string> settings) throws (1: SteleError error),
  void deleteTable(1: string name) throws (1: SteleError error),
  list<TableInfo> listTables() throws (1: SteleError error),
  TableInfo describeTable(1: string name) throws (1: SteleError error),
  /** The tablets that cover the range of rows, in order: from that with startRow, at most `limit` of them. */
  list<TabletLocation> locate(1: string tableId, 2: binary startRow, 3: i32 limit) throws (1: SteleError error),
  /** Answers when what was written before the call is in sorted files. */
  void flushTable(1: string name) throws (1: SteleError error),
  /** Answers when every tablet has at most one file, without deleted or surplus cells. */
  void compactTable(1: string name) throws (1: SteleError error)
}

struct ServerStatus {
  1: required string instanceId,
  2: required string session,
  3: required string address,
  4: required string version,
  5: required bool ready,
  6: optional string notReadyReason,
  7: required i64 upMillis,
  8: required i32 tablets,
  9: required map<string, i64> counters
}

/** One server about itself. */
service ServerService {
  /** Does nothing: measures the call path. The answer has `replySize` bytes. */
  binary ping(1: binary payload, 2: i32 replySize) throws (1: SteleError error),
  ServerStatus status() throws (1: SteleError error),
  /** The effective settings, secrets masked. */
  map<string, string> settings() throws (1: SteleError error)
}

// ---- Between servers. Clients have no use for what follows; it needs the right of the system principal.

/** A column's value that must hold; no value: the column must not be there. */
struct Condition {
  1: required binary row,
  2: required binary family,
  3: required binary qualifier,
  4: optional binary value
}

/** All mutations or none, over several rows of the metadata table, if all conditions hold. */
struct MetadataBatch {
  /** Recognises the batch after an unknown outcome. */
  1: required string batchId,
  2: required list<Condition> conditions,
  3: required list<Mutation> mutations
}

service MetadataService {
  /** CONSTRAINT if a condition does not hold; the message names it. Always synced. */
  void applyMetadata(1: MetadataBatch batch) throws (1: SteleError error)
}

/** Commands of the coordinator to the server of a tablet; all are idempotent. */
service AssignmentService {
  /** Starts to open what the metadata assigns to this session; the row says when and whether it is open. */
  void openTablets(1: list<string> tabletIds) throws (1: SteleError error),
  void closeTablet(1: string tabletId, 2: bool flush) throws (1: SteleError error),
  /** Answers when the tablet is flushed. */
  void flushTablet(1: string tabletId) throws (1: SteleError error),
  void compactTablet(1: string tabletId) throws (1: SteleError error),
  /** The tablets of this session, with the state of each: opening, open, closing, failed (reason). */
  map<string, string> tabletStates() throws (1: SteleError error)
}
