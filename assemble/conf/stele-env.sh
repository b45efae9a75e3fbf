# Options of the JVMs that bin/stele starts; a shell script. A variable that is set in the environment
# keeps its value. A server also reads conf/stele-env.sh of its instance directory, which comes after this.

# The server (standalone, server, and what 'start' starts). The heap has to hold the memtable and the two
# caches of stele.properties (memtable.bytes, cache.data.bytes, cache.index.bytes) and half as much again.
: "${STELE_SERVER_HEAP:=-Xms64m -Xmx1g}"
: "${STELE_SERVER_OPTS:=-XX:+UseG1GC}"

# Commands of the client, and the load generator of 'stele bench'.
: "${STELE_CLIENT_HEAP:=-Xms32m -Xmx512m}"
: "${STELE_CLIENT_OPTS:=}"
: "${STELE_BENCH_HEAP:=-Xms512m -Xmx1g}"
: "${STELE_BENCH_OPTS:=-XX:+UseG1GC}"
