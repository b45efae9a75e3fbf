# Turns result lines into Markdown tables: one section for each value of $section, one row for each
# value of $row, medians over the rounds with the least and the greatest in brackets.
#
# Variables: $section and $row (names of keys), $unit (what is counted), $systems (an array: the
# order of the columns).

def median:
  sort
  | if length == 0 then null
    elif length % 2 == 1 then .[(length - 1) / 2]
    else (.[length / 2 - 1] + .[length / 2]) / 2
    end;

# 1234567.8 -> "1,234,568"
def thousands:
  round | tostring
  | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(",");

# Four digits are enough for anything measured.
def short:
  if . >= 1000 then thousands
  elif . >= 100 then round
  elif . >= 10 then (. * 10 | round) / 10
  elif . >= 1 then (. * 100 | round) / 100
  else (. * 1000 | round) / 1000
  end
  | tostring;

def spread(format):
  if length == 0 then "–"
  elif length == 1 then (.[0] | format)
  else "\(median | format) (\(min | format)–\(max | format))"
  end;

def numbers(key): [.[] | .[key] | numbers];

# Of all lines of one system: median of the key, or a dash.
def typical(key): numbers(key) | if length == 0 then "–" else median | short end;

# Rates of the two systems in the same round; the machine drifts from round to round.
def ratios($of; $to):
  . as $lines
  | [ $lines[] | select(.system == $of) as $a
      | $lines[] | select(.system == $to and .round == $a.round and .ops_per_s > 0)
      | $a.ops_per_s / .ops_per_s ];

def in_order: reduce .[] as $x ([]; if index([$x]) then . else . + [$x] end);

def name: {accumulo: "Accumulo", hbase: "HBase", stele: "Stele"}[.] // .;

def cells: "| " + join(" | ") + " |";

def rates($lines; $rows; $peers):
  ([$row] + [$systems[] | name + " " + $unit] + [$peers[] | "Stele : " + name] | cells),
  (["---"] + [$systems[], $peers[] | "---:"] | cells),
  ($rows[] as $r
    | [$lines[] | select(.[$row] == $r)] as $here
    | [($r | tostring)]
      + [$systems[] as $s | [$here[] | select(.system == $s)] | numbers("ops_per_s")
          | spread(thousands)]
      + [$peers[] as $p | $here | ratios("stele"; $p) | spread(short)]
    | cells);

def costs($lines; $rows):
  ([$row] + [$systems[] | name | . + " mean / p99 / max ms", . + " server µs", . + " switches"]
    | cells),
  (["---"] + [$systems[] | "---:", "---:", "---:"] | cells),
  ($rows[] as $r
    | [($r | tostring)]
      + [ $systems[] as $s
          | [$lines[] | select(.[$row] == $r and .system == $s)]
          | (if length == 0 then "–"
             else [typical("avg_ms"), typical("p99_ms"), typical("max_ms")] | join(" / ")
             end),
            (map(. + {server_us: (.server_user_us + .server_sys_us)}) | typical("server_us")),
            typical("ctx_switches") ]
    | cells);

. as $all
| ($systems - ["stele"]) as $others
| (if $systems | index(["stele"]) then $others else [] end) as $peers
| ([.[] | .[$section]] | in_order[]) as $value
| [$all[] | select(.[$section] == $value)] as $lines
| ([$lines[] | .[$row]] | in_order) as $rows
| "## \($section) \($value)", "",
  rates($lines; $rows; $peers), "",
  costs($lines; $rows), ""
