package org.stele.client.rpc;

import java.util.function.Supplier;
import org.apache.thrift.TBase;

/**
 * A method of the IDL.
 *
 * @param result makes an empty result structure
 */
record Method<T extends TBase<T, ?>>(String name, Supplier<T> result) {}
