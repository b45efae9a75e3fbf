/*
 * What a program says that was made with another version of the interface: methods, arguments and fields that the
 * server does not know, fields that may be left out though the server needs them, and a call that wants no answer.
 */
namespace py newer
namespace js newer

struct Hint {
  1: required string name,
  2: optional double weight,
  3: optional map<i16, list<binary>> places,
  4: optional set<bool> flags
}

struct LookupRequest {
  1: optional string tableId,
  2: optional binary row,
  4: optional bool plain,
  100: optional list<Hint> hints,
  101: optional i64 patience
}

struct Cell {
  1: required binary row,
  2: required binary family,
  3: required binary qualifier,
  4: required binary visibility,
  5: required i64 timestamp,
  6: required binary value
}

struct LookupResult {
  2: optional list<Cell> cells
}

exception SteleError {
  1: required i32 code,
  2: required string message,
  3: optional i32 retryAfterMs,
  9: optional string advice
}

service TabletService {
  LookupResult lookup(1: LookupRequest request, 2: map<string, string> context) throws (1: SteleError error),
  void repair(1: string tabletId)
}

service ServerService {
  oneway void ping(1: binary payload, 2: i32 replySize)
}
