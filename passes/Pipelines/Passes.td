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
    Option<"level", "level", "std::string", "", "placed or scheduled">,
    Option<"explain", "explain", "bool", "false", "Say in remarks what was decided">,
  ];
}

#endif // DPC_PASSES_PIPELINES_PASSES_TD
