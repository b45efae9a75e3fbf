# What the compare scripts have in common; sourced by them.
#
# A script sets the variables below from its options, defines run_accumulo, run_hbase and run_stele
# as far as it knows these systems, and calls compare. Each run_SYSTEM starts the servers, warms
# them, prints a JSON line for each measurement, and stops the servers.

peers=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=processes.bash
source "$peers/lib/processes.bash"

rounds=3
round=1
stele=stele
stele_arguments=()
idle_wait=900
results=
report_only=

say() {
  echo "$(date +%T) $*" >&2
}

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

# common_option NAME VALUE: sets an option that every script has; fails if it is none
# shellcheck disable=SC2034 # the scripts use what they do not set themselves
common_option() {
  case $1 in
    --rounds) rounds=$2 ;;
    --systems) systems=$2 ;;
    --stele) stele=$2 ;;
    --stele-arguments) read -r -a stele_arguments <<<"$2" ;;
    --idle-wait) idle_wait=$2 ;;
    --results) results=$2 ;;
    --report) report_only=$2 ;;
    *) return 1 ;;
  esac
}

# peak LIST: the greatest of numbers with commas between them
peak() {
  tr ',' '\n' <<<"$1" | sort -n | tail -n 1
}

# client SECONDS COMMAND...: runs a client for at most that time
client() {
  timeout --kill-after=10 "$@" 9>&-
}

# busy_share SECONDS: percentage of the machine's processors that is in use
busy_share() {
  local before after
  before=$(head -n 1 /proc/stat)
  sleep "$1"
  after=$(head -n 1 /proc/stat)
  awk '{
    for (i = 2; i <= 9; i++) { all += $i * sign; if (i != 5 && i != 6) busy += $i * sign }
  } END { print int(100 * busy / all + 0.5) }' \
    sign=-1 <(echo "$before") sign=1 <(echo "$after")
}

# await_idle: waits until nothing else uses the processors; prints the percentage that is in use
await_idle() {
  local share end=$((SECONDS + idle_wait))
  while share=$(busy_share 3) && ((share > 5)); do
    if ((SECONDS >= end)); then
      say "the machine is not idle ($share % busy): the figures will be disturbed"
      break
    fi
    say "waiting for an idle machine ($share % busy)"
    sleep 7
  done
  echo "$share"
}

# mark_and_run_again ARGUMENT...: gives this shell and all that it starts a mark of its own, by
# which clean_up finds them
mark_and_run_again() {
  if [[ -z ${PEERS_COMPARISON:-} ]]; then
    PEERS_COMPARISON=$$-$EPOCHSECONDS exec "$BASH" "$0" "$@"
  fi
}

# clean_up SECONDS: ends whatever was started
clean_up() {
  end_marked PEERS_COMPARISON="$PEERS_COMPARISON" "$1"
}

check_tools() {
  local tool system
  for tool in awk flock jq timeout; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
  done
  for system in ${systems//,/ }; do
    declare -F "run_$system" >/dev/null || fail "unknown system $system"
    case $system in
      stele) command -v "$stele" >/dev/null || fail "no command $stele; see --stele" ;;
      *)
        [[ -f $peers/$system/target/classpath.txt ]] ||
          fail "$system is not built: $peers/$system/run.sh build"
        ;;
    esac
  done
}

describe_machine() {
  date -u +'date: %FT%TZ'
  echo "kernel: $(uname -sr)"
  echo "processors: $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
  echo "memory: $(awk '/^MemTotal/ {printf "%.1f GiB", $2 / 1048576}' /proc/meminfo)"
  echo "java: $(java -version 2>&1 | head -n 1)"
}

# report SECTION ROW UNIT: the tables from the results
report() {
  jq -rs --arg section "$1" --arg row "$2" --arg unit "$3" \
    --argjson systems "$(jq -cR 'split(",")' <<<"$systems")" \
    -f "$peers/lib/report.jq" "$results/lines.jsonl"
}

# turn SYSTEM: one system's part of a round; if it fails, none of its lines count
turn() {
  local busy lines=$results/turn.jsonl
  busy=$(await_idle)
  say "round $round: $1"
  "run_$1" >"$lines" # no pipe: a server that is left over would keep it open
  jq -c --argjson round "$round" --argjson busy "$busy" --arg system "$1" \
    'if .scenario == "warm-up" then empty
     else . + {system: $system, round: $round, busy_before_percent: $busy} end' \
    "$lines" >>"$results/lines.jsonl"
  rm "$lines"
}

# check_lines: says what makes lines doubtful
check_lines() {
  jq -rs 'map(select((.failures // 0) > 0)) | if length > 0
    then "\(length) measurements with failed operations" else empty end' "$results/lines.jsonl"
  jq -rs 'map(select((.other_cores // 0) > 0.15)) | if length > 0
    then "\(length) measurements disturbed by other processes (more than 0.15 processors)"
    else empty end' "$results/lines.jsonl"
  jq -rs 'map(select(.busy_before_percent > 5)) | if length > 0
    then "\(length) measurements that began on a busy machine" else empty end' \
    "$results/lines.jsonl"
}

# compare NAME SECTION ROW UNIT: all rounds, then the report
compare() {
  local name=$1 i order failed=0
  shift
  if [[ -n $report_only ]]; then
    results=$report_only
    report "$@"
    return
  fi
  check_tools
  results=${results:-$peers/results/$name-$(date +%Y%m%d-%H%M%S)}
  mkdir -p "$results"
  describe_machine >"$results/machine.txt"
  : >"$results/lines.jsonl"
  exec 9>>"$peers_lock"
  flock -n 9 || {
    say "waiting for $peers_lock"
    flock 9
  }
  export PEERS_LOCK_HELD=1
  trap 'clean_up 10' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  read -r -a order <<<"${systems//,/ }"
  for ((round = 1; round <= rounds; round++)); do
    for ((i = 0; i < ${#order[@]}; i++)); do
      # Another one is the first in each round. A signal is seen at once only while the shell waits
      # for something in the background.
      turn "${order[(round - 1 + i) % ${#order[@]}]}" &
      wait $! || {
        say "failed; the logs are under $peers/*/run"
        failed=1
      }
      clean_up 10
    done
  done
  {
    report "$@"
    check_lines
  } >"$results/report.md"
  cat "$results/report.md"
  say "results in $results"
  return "$failed"
}
