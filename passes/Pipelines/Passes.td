#ifndef DPC_PASSES_PIPELINES_PASSES_TD
#define DPC_PASSES_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FollowPlan : Pass<"dpc-follow-plan", "mlir::ModuleOp"> {
  let summary = "Runs the passes of a level as the module's plan asks for them";
  let description = [{
    Reads `dist.plan` of the module and runs the passes that lead to `level` with the options
    that follow from it, on the same module. PlannedPasses.cpp has the passes and the reason for
    the place of each. The plan must agree with the program (ProgramPlan::verify).

    Needs: `dist.plan`, `dpc-describe-machine`, the level before. Gives: `level`.

    ```mlir
    module attributes {dist.plan = #dist.plan<mesh = ["data" = 2 batch]>} {}
    // at level `placed` gets the layouts that a batch cut over two devices leads to
    ```
  }];
  let options = [
    Option<"level", "level", "std::string", "", "placed, ordered or scheduled">,
    Option<"explain", "explain", "bool", "false", "Say in remarks what was decided">,
  ];
}

def FitMemory : Pass<"dpc-fit-memory", "mlir::ModuleOp"> {
  let summary = "Changes the module's plan until a rank's program fits into the memory of a device";
  let description = [{
    Reads `dist.plan` of the module and, if it limits the memory of a device (`deviceBytes`), looks
    for a plan whose program needs no more (planning/FitMemory.h). For each plan that the search
    tries, a copy of the module is taken through the passes up to the memory plan, without code.
    The module gets the plan that was found; its limit is gone, because the plan keeps it.

    A remark says what the plan needs and how it differs. If no plan fits, an error says what the
    smallest needs, and its largest tensors.

    Needs: level `local`, `dist.plan`. Keeps: the level.

    ```mlir
    module attributes {dist.plan = #dist.plan<mesh = ["data" = 2 batch], deviceBytes = 35651584>} {}
    // may become
    module attributes {dist.plan = #dist.plan<mesh = ["data" = 2 batch], zeroStage = 2, zeroAxes = ["data"],
                                              bucketBytes = 1048576>} {}
    ```
  }];
  let options = [
    Option<"mayRecompute", "may-recompute", "bool", "false", "Values of the forward pass may be computed again">,
    ListOption<"axesToDivide", "axes-to-divide", "std::string", "The mesh axes over which state may be divided">,
    Option<"mayShrinkBuckets", "may-shrink-buckets", "bool", "false", "Buckets may become smaller">,
  ];
}

#endif // DPC_PASSES_PIPELINES_PASSES_TD
