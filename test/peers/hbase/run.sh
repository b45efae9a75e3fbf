#!/usr/bin/env bash
# Builds, starts and stops a stand-alone HBase, and runs one scenario or tool against it.
#
#   ./run.sh build
#   ./run.sh start                      returns when the server answers
#   ./run.sh launch                     does not wait
#   ./run.sh bench SCENARIO [KEY=VALUE]...
#   ./run.sh evaluation ARGUMENT...     PerformanceEvaluation
#   ./run.sh wal-evaluation ARGUMENT... WALPerformanceEvaluation
#   ./run.sh pid
#   ./run.sh stop [SECONDS]             by force after that time (60)
#   ./run.sh clear                      removes the data
#   ./run.sh hdfs-start | hdfs-stop     a small HDFS for WALPerformanceEvaluation
#
# The data stays under run/ from one start to the next. SITE="KEY=VALUE ..." adds properties to
# hbase-site.xml, HEAP and JAVA_ARGUMENTS change the server's Java options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../lib/processes.bash

run=$PWD/run
root=${ROOT:-file://$run/data}
hdfs_port=29000
java=(java -XX:+UseG1GC -Djava.net.preferIPv4Stack=true
  -Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true)
for package in java.io java.lang java.lang.reflect java.nio java.util java.util.concurrent \
  jdk.internal.ref sun.nio.ch; do
  java+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
for package in jdk.internal.misc sun.nio.ch sun.security.pkcs; do
  java+=(--add-exports "java.base/$package=ALL-UNNAMED")
done

# The raw local file system is used because the one with checksums never syncs its files.
properties=(
  hbase.rootdir="$root"
  hbase.tmp.dir="$run/tmp"
  hbase.cluster.distributed=false
  fs.file.impl=org.apache.hadoop.fs.RawLocalFileSystem
  hbase.unsafe.stream.capability.enforce=false
  hbase.zookeeper.quorum=127.0.0.1
  hbase.zookeeper.property.clientPort=22181
  hbase.zookeeper.property.dataDir="$run/zookeeper"
  hbase.localcluster.assign.random.ports=false
  hbase.master.hostname=127.0.0.1
  hbase.master.ipc.address=127.0.0.1
  hbase.master.port=26000
  hbase.master.info.port=-1
  hbase.unsafe.regionserver.hostname=127.0.0.1
  hbase.regionserver.ipc.address=127.0.0.1
  hbase.regionserver.port=26020
  hbase.regionserver.info.port=-1
)

# configure DIRECTORY LOG_LEVEL
configure() {
  local property
  mkdir -p "$1"
  {
    echo '<configuration>'
    for property in "${properties[@]}" ${SITE:-}; do
      echo "<property><name>${property%%=*}</name><value>${property#*=}</value></property>"
    done
    echo '</configuration>'
  } >"$1/hbase-site.xml"
  cat >"$1/log4j.properties" <<END
log4j.rootLogger=$2,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p [%t] %c{2}: %m%n
log4j.logger.org.apache.hadoop.hbase.PerformanceEvaluation=INFO
log4j.logger.org.apache.hadoop.hbase.wal.WALPerformanceEvaluation=INFO
END
}

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

launch() {
  local classes
  classes=$(class_path)
  stop 0
  configure "$run/conf-server" INFO
  # shellcheck disable=SC2086
  PEERS_SERVER=$run nohup "${java[@]}" ${HEAP:--Xms3g -Xmx3g} ${JAVA_ARGUMENTS:-} \
    -cp "$run/conf-server:$classes" org.apache.hadoop.hbase.master.HMaster start \
    >"$run/server.log" 2>&1 </dev/null 9>&- &
  echo $! >"$run/pid"
}

start() {
  local begin=${EPOCHREALTIME/[.,]/}
  launch
  client org.stele.peers.hbase.HBaseBench "$PWD" await seconds=300 2>"$run/await.log" || {
    grep -E 'ERROR|Exception' "$run/server.log" | tail -n 20 >&2
    return 1
  }
  echo "start: first scan after $(((${EPOCHREALTIME/[.,]/} - begin) / 1000)) ms" >&2
}

# client CLASS ARGUMENT...
client() {
  configure "$run/conf-client" WARN
  "${java[@]}" -Xms1g -Xmx2g -cp "$run/conf-client:$(class_path)" "$@"
}

bench() {
  measuring "$PWD/run.sh" client org.stele.peers.hbase.HBaseBench "$PWD" "$@" \
    2>>"$run/client.log"
}

evaluation() {
  measuring "$PWD/run.sh" client org.apache.hadoop.hbase.PerformanceEvaluation "$@"
}

wal-evaluation() {
  measuring "$PWD/run.sh" client org.apache.hadoop.hbase.wal.WALPerformanceEvaluation "$@"
}

pid() {
  cat "$run/pid"
}

stop() {
  end_marked PEERS_SERVER="$run" "${1:-60}"
}

clear() {
  rm -rf "$run/data" "$run/tmp" "$run/zookeeper"
}

hdfs-start() {
  local i
  hdfs-stop
  configure "$run/conf-client" WARN
  PEERS_SERVER=$run/hdfs nohup "${java[@]}" -Xmx1g -cp "$run/conf-client:$(class_path)" \
    org.stele.peers.hbase.MiniDfs "$run/hdfs" "$hdfs_port" \
    >"$run/hdfs.log" 2>&1 </dev/null 9>&- &
  for ((i = 0; i < 600; i++)); do
    grep -q 'the file system is up' "$run/hdfs.log" && return
    sleep 0.1
  done
  tail -n 20 "$run/hdfs.log" >&2
  return 1
}

hdfs-stop() {
  end_marked PEERS_SERVER="$run/hdfs" 5
}

mkdir -p "$run"
case ${1:-} in
  build | start | launch | client | bench | evaluation | wal-evaluation | pid | stop | clear | \
    hdfs-start | hdfs-stop) "$@" ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
