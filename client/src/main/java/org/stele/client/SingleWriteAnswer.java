package org.stele.client;

import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.WriteAnswer;

/** Makes the failure of the only mutation of a write the failure of the write. */
record SingleWriteAnswer(String server, Answer<WriteAnswer> answer) implements Answer<WriteAnswer> {
  @Override
  public void answered(WriteAnswer value) {
    if (value.failures().isEmpty()) {
      answer.answered(value);
    } else {
      answer.failed(AttemptException.replied(server, value.failures().get(0).error()));
    }
  }

  @Override
  public void failed(AttemptException failure) {
    answer.failed(failure);
  }
}
