#ifndef DPC_PASSES_PIPELINES_PASSES_TD
#define DPC_PASSES_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FollowPlan : Pass<"dpc-follow-plan", "mlir::ModuleOp"> {
  let summary = "Runs the passes that lead to a level, with the options that the module's plan requests";
  let description = [{
    Reads `dist.plan` of the module, and runs the passes that lead to `level`. The
    options of these passes follow from the plan. PlannedPasses.cpp lists the passes,
    with the reason for the position of each. Fails if the plan does not agree with the
    program (ProgramPlan::verify).

    Needs: `dist.plan`, `dpc-describe-machine`, the previous level. Gives: `level`.

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
    Reads `dist.plan` of the module. If the plan limits the memory of a device
    (`deviceBytes`), the pass searches for a plan whose program needs no more
    (planning/FitMemory.h). For each plan that the search tries, the pass clones the
    module and runs the passes up to the memory plan on the clone; it generates no code.
    The pass then replaces the module's plan by the plan that fits. The new plan has no
    `deviceBytes`, because it is known to fit.

    If the old plan does not fit, a remark says how many bytes the new plan needs, and
    which options differ. If no plan fits, an error names the fewest bytes that a plan
    needs, and the largest tensors of its program.

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

def FitStep : Pass<"dpc-fit-step", "mlir::ModuleOp"> {
  let summary = "Chooses the sizes of buckets and the divided updates with which a step is shortest";
  let description = [{
    Reads `dist.plan` of the module. Tries plans with other sizes of buckets, and with
    other updates divided among the ranks (planning/FitStep.h). For each of them, the
    pass clones the module, runs the passes up to level `ordered` on the clone, and plays
    a step of it on the machine of the module (passes/Play/OrderedPlay.h). It then
    replaces the module's plan by the one with the shortest step. If that is another
    plan, a remark says how long both steps take, and which options differ.

    Does nothing for programs without collectives of gradients, and if both choices are
    closed.

    Needs: level `local`, `dist.plan`, `dpc-describe-machine`. Keeps: the level.

    ```mlir
    module attributes {dist.plan = #dist.plan<mesh = ["data" = 8 batch]>} {}
    // may become
    module attributes {dist.plan = #dist.plan<mesh = ["data" = 8 batch], firstBucketBytes = 4194304,
                                              bucketBytes = 104857600>} {}
    ```
  }];
  let options = [
    Option<"mayChooseBuckets", "may-choose-buckets", "bool", "false", "The sizes of buckets may change">,
    ListOption<"axesToDivide", "axes-to-divide", "std::string",
               "The mesh axes over which optimizer state may be divided">,
    Option<"explain", "explain", "bool", "false", "Say in a remark how long the step takes, also if the plan stays">,
  ];
}

#endif // DPC_PASSES_PIPELINES_PASSES_TD
