/**
 * Calls to servers: connections that many callers share, and the methods of the IDL in the words of
 * the data model. No other package of the client knows Thrift.
 */
@NullMarked
package org.stele.client.rpc;

import org.jspecify.annotations.NullMarked;
