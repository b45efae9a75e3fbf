# Finding and ending the processes that a script started; sourced by the scripts.
#
# A process is known by a variable in the environment with which it was started. What it starts
# inherits that, so nothing is missed, and nothing else is hit if a process id is used again.

peers_lock=${PEERS_LOCK:-${TMPDIR:-/tmp}/bench.lock}

# find_marked NAME=VALUE: sets the array marked to the processes that were started with it, but
# for this shell. It starts no process, which would be marked too.
find_marked() {
  local file pid environment entry
  marked=()
  for file in /proc/[0-9]*/environ; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    [[ $pid != "$$" && $pid != "$BASHPID" ]] || continue
    { mapfile -d '' -t environment <"$file"; } 2>/dev/null || continue
    for entry in "${environment[@]}"; do
      if [[ $entry == "$1" ]]; then
        marked+=("$pid")
        break
      fi
    done
  done
}

# end_marked NAME=VALUE SECONDS: asks the marked processes to end, and ends by force those that
# have not after that time
end_marked() {
  local i ended
  find_marked "$1"
  ended=("${marked[@]}")
  ((${#marked[@]} == 0)) || kill "${marked[@]}" 2>/dev/null || true
  for ((i = 0; ${#marked[@]} > 0; i++)); do
    ((i < $2 * 10)) || kill -KILL "${marked[@]}" 2>/dev/null || true
    sleep 0.1
    find_marked "$1"
    ended+=("${marked[@]}")
  done
  await_end "${ended[@]}"
}

# await_end PID...: a process that ends loses its environment before it gives back its ports
await_end() {
  local pid i stat
  for pid in "$@"; do
    for ((i = 0; i < 100; i++)); do
      { read -r stat <"/proc/$pid/stat"; } 2>/dev/null || break
      [[ ${stat##*) } != Z* ]] || break
      sleep 0.1
    done
  done
}

# measuring COMMAND...: runs it while nobody else measures on this machine. A script that holds the
# lock for longer sets PEERS_LOCK_HELD.
measuring() {
  if [[ -n ${PEERS_LOCK_HELD:-} ]]; then
    "$@"
  else
    flock -o "$peers_lock" "$@"
  fi
}
