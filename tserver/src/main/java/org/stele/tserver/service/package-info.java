/**
 * The methods of the IDL: each decodes and checks its arguments, calls one stage, and encodes the
 * answer. The only place of this module that knows Thrift.
 */
@NullMarked
package org.stele.tserver.service;

import org.jspecify.annotations.NullMarked;
