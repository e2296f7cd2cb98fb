#ifndef DPC_PASSES_STAGES_PASSES_TD
#define DPC_PASSES_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignStages : Pass<"dpc-assign-stages", "mlir::ModuleOp"> {
  let summary = "Assigns the ops of a program to the chunks of a pipeline";
  let description = [{
    Cuts the forward pass of `@step`, or of `@infer`, into chunks (StageCut.h), one or
    several per coordinate on the mesh axis `pipe`. The attribute `dist.stages` of the
    module lists the stage of each chunk, `dist.borders` the first ONNX node of each
    chunk, and `dist.cut_bytes` the bytes that each stage holds in the model of the cut:
    its parameters with their gradients and optimizer state, and the kept values of the
    microbatches in flight. The attribute `dist.chunks` of an op or of an
    argument lists the chunks that can run the op or hold the argument. Without the
    attribute, every chunk can. All other ops follow the cut by dataflow (ChunkSets.h).

    A parameter is held by each chunk whose forward pass reads it. If the terms of a sum
    outside of loops are on several chunks, e.g. the terms of a norm or of the gradient of
    a tied weight, the pass replaces the sum by a `dist.combine_stages`. If a loop yields
    the sum of terms from several chunks, the loop yields each term instead.

    Does nothing if the mesh has no axis `pipe`, or if its size is 1.

    Needs: level `local`. Keeps: values.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect", "::dpc::nn::NNDialect"];
  let options = [
    ListOption<"starts", "starts", "unsigned",
               "The first op of each chunk but the first, as numbers of ops that a cut assigns (default: the best cut)">,
    ListOption<"nodes", "nodes", "std::string",
               "The same as patterns of the names of ONNX nodes: a chunk starts with the first op of a node that matches">,
    Option<"chunksPerStage", "chunks-per-stage", "int64_t", "1", "The chunks that each stage runs">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"",
           "gpipe, 1f1b, interleaved or zero-bubble; the chunks of zero-bubble run through the stages forth and back">,
    Option<"microbatches", "microbatches", "int64_t", "1", "The iterations of the loop over microbatches">,
    Option<"stageBytes", "stage-bytes", "int64_t", "0",
           "Bytes that the cut may put on a stage, as far as it can estimate them; 0 for no limit. If no cut keeps the limit, it is the one that needs the fewest bytes">,
  ];
}

def CutStages : Pass<"dpc-cut-stages", "mlir::ModuleOp"> {
  let summary = "Cuts an assigned program into one module per stage";
  let description = [{
    Moves the ops of each stage into a module `@stage.N` with the attribute `dist.stage`.
    Such a module has the functions of the program with the arguments, ops and results of
    the stage. Variables and the mesh stay on the root; each stage has a copy of the mesh.

    A stage that reads a value of another stage receives it in a message (`dist.send`,
    `dist.recv`), once for all its readers. It repeats views, broadcasts and conversions
    whose operands have no more bytes than their results, instead of receiving the results. A value that is defined outside of a loop is
    received outside of the loop. `dist.combine_stages` becomes the sum of the stage's own
    terms and a `dist.stage_reduce` among the stages that have terms or read the result.

    The attribute `dist.crossings` of the root describes the values of the forward pass
    that cross more than one border between chunks.

    Does nothing if the mesh has no axis `pipe`, or if its size is 1.

    Needs: dpc-assign-stages. Keeps: values, apart from the order of sums over stages.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect", "::dpc::nn::NNDialect"];
}

def JoinMessages : Pass<"dpc-join-messages", "mlir::ModuleOp"> {
  let summary = "Joins small messages between two stages";
  let description = [{
    A message takes some time to start, however small it is. The pass joins messages of one
    element type into a single message, if they have the same stages and the same chunk
    reads all of them first: the sender concatenates the values, and the receiver slices
    the message. A value is small enough if both copies take no longer than a message takes
    to start, by the modelled times of `#dist.machine`.

    The sender must not wait for any stage between the messages, and no op of the receiver
    may read a value before the last one of them. Therefore a stage never waits longer than
    before for something that depends on its own messages.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @before(%a: tensor<f32>, %b: tensor<2x3xf32>) {
      dist.send %a to 1 on @mesh "pipe" number 0 : tensor<f32>
      dist.send %b to 1 on @mesh "pipe" number 1 : tensor<2x3xf32>
      return
    }
    func.func @after(%a: tensor<f32>, %b: tensor<2x3xf32>) {
      %0 = nn.reshape %a : tensor<f32> -> tensor<1xf32>
      %1 = nn.reshape %b : tensor<2x3xf32> -> tensor<6xf32>
      %2 = nn.concat %0, %1 dim 0 : tensor<1xf32>, tensor<6xf32> -> tensor<7xf32>
      dist.send %2 to 1 on @mesh "pipe" number 1 : tensor<7xf32>
      return
    }
    ```

    Does nothing in programs of one stage.

    Needs: dpc-cut-stages. Keeps: values.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect", "::dpc::nn::NNDialect"];
}

def FormPieces : Pass<"dpc-form-pieces", "mlir::ModuleOp"> {
  let summary = "Divides the iterations of a stage's pipelined loop into pieces";
  let description = [{
    Runs on the module of a stage. If a loop of `@step` has messages, the pass moves the
    ops of its body into two instances of `dist.piece` per chunk of the stage: the forward
    pass and the backward pass. If several loops have messages, it is the loop with messages
    to earlier chunks or from later ones. With `splits-weights`, a third piece
    computes what no message needs: mostly gradients of weights. PieceSets.h says which op
    belongs to which piece. The messages follow the pieces that compute them, and precede
    the pieces that read them. All stages order them alike: what the forward pass of the
    first chunk receives, what it sends, and so on until the last chunk, and then the same
    for the backward passes from the last chunk to the first one.

    Does nothing in other modules.

    Needs: dpc-cut-stages. Keeps: values.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect"];
  let options = [
    Option<"splitsWeights", "splits-weights", "bool", "false",
           "Compute the gradients of weights in pieces of their own">,
  ];
}

def SchedulePipeline : Pass<"dpc-schedule-pipeline", "mlir::ModuleOp"> {
  let summary = "Orders the pieces and messages of all stages of a pipeline";
  let description = [{
    Runs on the complete program, after the kernels of each stage are known. Prices the
    pieces and messages, schedules the pieces (PipelineSchedule.h), and gives all messages
    one total order: by the time at which the schedule has them ready. The attribute
    `dist.order` of each pipelined loop lists the pieces and messages of its stage in the
    order in which the stage starts them (StageOrder.h). The attribute `dist.pipeline` of
    the root holds the schedule with its times.

    A message is sent after the piece that computes it. A receive starts before the piece
    in which the schedule has the message ready, or earlier, if a later message in the
    total order is due. Two stages never wait for each other, also on devices that move
    one message at a time, because all stages start their messages in the same order. A
    stage waits for a received message before the piece that reads it, and for a sent one
    after two more pieces, so that the value is not kept longer. Without `overlap` it waits
    for each sent message at once.

    If the schedule of a stage holds more bytes than `held-bytes` allows, fewer of its
    microbatches are in flight. The pass fails if not even one microbatch after the other
    keeps the limit.

    Does nothing if no stage has pieces.

    Needs: dpc-form-pieces, dpc-form-kernels. Keeps: values.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect"];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "gpipe, 1f1b, interleaved or zero-bubble">,
    Option<"overlap", "overlap", "bool", "true", "Messages are under way while pieces compute">,
    ListOption<"heldBytes", "held-bytes", "int64_t",
               "By stage, the bytes that its microbatches may hold between pieces; 0 for no limit">,
  ];
}

#endif // DPC_PASSES_STAGES_PASSES_TD
