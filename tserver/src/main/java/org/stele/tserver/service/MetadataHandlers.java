package org.stele.tserver.service;

import java.util.List;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.thrift.Condition;
import org.stele.core.thrift.MetadataBatch;
import org.stele.core.thrift.MetadataService;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;
import org.stele.tserver.conditional.ConditionalBatch;
import org.stele.tserver.conditional.ConditionalStage;

/** Conditional batches on the metadata table, for servers. Of the reserved class. */
final class MetadataHandlers {
  private static final int MAX_BATCH_ID_LENGTH = 200;

  private final ConditionalStage stage;

  MetadataHandlers(ConditionalStage stage) {
    this.stage = stage;
  }

  void register(Methods methods) {
    methods.add(
        "MetadataService",
        "applyMetadata",
        Execution.WORKER,
        true,
        MetadataService.applyMetadata_args::new,
        this::apply);
  }

  private void apply(MetadataService.applyMetadata_args arguments, Call call) {
    ConditionalBatch batch = batch(Requests.required(arguments.getBatch(), "batch"));
    stage.apply(
        batch,
        call.caller().deadlineNanos(),
        error -> {
          if (error == null) {
            call.reply(new MetadataService.applyMetadata_result());
          } else {
            call.fail(error);
          }
        });
  }

  private static ConditionalBatch batch(MetadataBatch plain) {
    String id = Requests.required(plain.getBatchId(), "batchId");
    if (id.isEmpty() || id.length() > MAX_BATCH_ID_LENGTH) {
      throw Requests.bad("a batch id has 1 to " + MAX_BATCH_ID_LENGTH + " characters");
    }
    List<ConditionalBatch.Condition> conditions =
        Requests.required(plain.getConditions(), "conditions").stream()
            .map(MetadataHandlers::condition)
            .toList();
    List<Mutation> mutations =
        Requests.checkedMutations(Requests.required(plain.getMutations(), "mutations"));
    if (mutations.isEmpty()) {
      throw Requests.bad("the batch " + id + " has no mutations");
    }
    return new ConditionalBatch(id, conditions, mutations);
  }

  private static ConditionalBatch.Condition condition(Condition plain) {
    return new ConditionalBatch.Condition(
        Requests.bytes(Requests.required(plain.bufferForRow(), "row of a condition")),
        new Column(
            Requests.bytes(Requests.required(plain.bufferForFamily(), "family of a condition")),
            Requests.bytes(
                Requests.required(plain.bufferForQualifier(), "qualifier of a condition"))),
        Requests.bytesOrNull(plain.bufferForValue()));
  }
}
