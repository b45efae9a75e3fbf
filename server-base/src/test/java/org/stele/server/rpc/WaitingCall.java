package org.stele.server.rpc;

/** A call for tests of the queue. */
record WaitingCall(
    String principal, int number, long deadlineNanos, long firstAttemptNanos, int heldBytes)
    implements CallQueue.Waiting {}
