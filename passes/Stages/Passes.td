#ifndef DPC_PASSES_STAGES_PASSES_TD
#define DPC_PASSES_STAGES_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignStages : Pass<"dpc-assign-stages", "mlir::ModuleOp"> {
  let summary = "Assigns the ops of a program to the chunks of a pipeline";
  let description = [{
    Cuts the forward pass of `@step`, or of `@infer`, into chunks (StageCut.h), one per
    coordinate on the mesh axis `pipe`. The attribute `dist.chunks` of an op or of an
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
  ];
}

def CutStages : Pass<"dpc-cut-stages", "mlir::ModuleOp"> {
  let summary = "Cuts an assigned program into one module per stage";
  let description = [{
    Moves the ops of each stage into a module `@stage.N` with the attribute `dist.stage`.
    Such a module has the functions of the program with the arguments, ops and results of
    the stage. Variables and the mesh stay on the root; each stage has a copy of the mesh.

    A stage that reads a value of another stage receives it in a message (`dist.send`,
    `dist.recv`), once for all its readers. A value that is defined outside of a loop is
    received outside of the loop. `dist.combine_stages` becomes the sum of the stage's own
    terms and a `dist.stage_reduce` among the stages that have terms or read the result.

    Does nothing if the mesh has no axis `pipe`, or if its size is 1.

    Needs: dpc-assign-stages. Keeps: values, apart from the order of sums over stages.
  }];
  let dependentDialects = ["::dpc::dist::DistDialect", "::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_STAGES_PASSES_TD
