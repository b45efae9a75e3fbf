package org.stele.server.rpc;

import java.net.InetAddress;
import org.stele.core.data.WriterStamp;

/**
 * Who called, and until when the answer is of use.
 *
 * @param address the peer's address
 * @param clientId random per client process; 0 for plain Thrift clients
 * @param tenant as the call header says, or empty; not yet authenticated
 * @param certificate the name in the certificate that the client proved to be its own by TLS; or
 *     empty
 * @param deadlineNanos on the server's {@link org.stele.core.time.Clock#nanos()}
 * @param attempt 1 for the first attempt
 * @param writer which write of which writer this is, or {@link WriterStamp#NONE}
 * @param traceIdHigh trace id as the header says, or 0
 * @param traceIdLow lower half of the trace id
 */
public record Caller(
    InetAddress address,
    long clientId,
    String tenant,
    String certificate,
    long deadlineNanos,
    int attempt,
    WriterStamp writer,
    long traceIdHigh,
    long traceIdLow) {}
