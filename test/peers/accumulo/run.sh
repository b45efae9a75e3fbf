#!/usr/bin/env bash
# Builds, starts and stops Accumulo, and runs one scenario against it.
#
#   ./run.sh build
#   ./run.sh native                     builds the native in-memory map (needs make and g++)
#   ./run.sh start NAME [tservers=N] [heapMb=N] [rawfs=false] [native=DIR] [PROPERTY=VALUE]...
#   ./run.sh bench NAME SCENARIO [KEY=VALUE]...
#   ./run.sh control NAME pids|kill N|add|stop
#   ./run.sh stop NAME
#
# Each NAME is a new cluster with its data under run/NAME; one that ran before is removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../lib/processes.bash

version=2.1.4
export JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
java=(
  "$JAVA_HOME/bin/java" -Djava.net.preferIPv4Stack=true
  -Dlog4j2.configurationFile="$PWD/log4j2.properties"
)

class_path() {
  [[ -f target/classpath.txt ]] || {
    echo "not built: ./run.sh build" >&2
    exit 1
  }
  echo "$PWD/target/classes:$(<target/classpath.txt)"
}

build() {
  mvn -q -B compile dependency:build-classpath -Dmdep.outputFile=target/classpath.txt
}

native() {
  local sources=run/native-source
  mkdir -p "$sources" run/native
  mvn -q -B dependency:copy -DoutputDirectory="$sources" \
    -Dartifact="org.apache.accumulo:accumulo-native:$version:tar.gz"
  tar xzf "$sources/accumulo-native-$version.tar.gz" -C "$sources"
  make -s -C "$sources/accumulo-native-$version"
  cp "$sources/accumulo-native-$version/libaccumulo.so" run/native/
}

start() {
  local name=$1 directory=$PWD/run/$1 classes i
  shift
  stop "$name"
  classes=$(class_path)
  rm -rf "$directory"
  mkdir -p "$directory"
  PEERS_SERVER=$directory nohup "${java[@]}" -Xmx256m -cp "$classes" \
    org.stele.peers.accumulo.Cluster "$directory" "$@" \
    >"$directory/server.out" 2>&1 </dev/null 9>&- &
  for ((i = 0; i < 1500; i++)); do
    [[ -s $directory/port ]] && break
    if ! kill -0 $! 2>/dev/null; then
      tail -n 20 "$directory/server.out" >&2
      return 1
    fi
    sleep 0.2
  done
  grep '^start:' "$directory/server.out" >&2
}

bench() {
  local name=$1
  shift
  measuring "${java[@]}" -Xms1g -Xmx1g -cp "$(class_path)" \
    org.stele.peers.accumulo.AccumuloBench "$PWD/run/$name" "$@"
}

control() {
  local name=$1
  shift
  exec 3<>"/dev/tcp/127.0.0.1/$(<"run/$name/port")"
  echo "$*" >&3
  cat <&3
  exec 3>&-
}

stop() {
  end_marked PEERS_SERVER="$PWD/run/$1" 20
}

case ${1:-} in
  build | native | start | bench | control | stop) "$@" ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
