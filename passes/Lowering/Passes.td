#ifndef DPC_PASSES_LOWERING_PASSES_TD
#define DPC_PASSES_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToExec : Pass<"dpc-lower-to-exec", "mlir::ModuleOp"> {
  let summary = "Turns tensors into buffers and program order into the order of execution";
  let description = [{
    @step, @eval and @infer become `exec.entry`s. State, inputs, metrics and outputs
    become `exec.resident` buffers that the entries share; other values become
    buffers of their own; a reshape becomes a view. Each `nn.kernel` and
    `nn.update` becomes a launch of a private function; equal bodies share one.

    The new value of a piece of state is written into the buffer of the old one
    where nothing reads the old value afterwards and the producer either does not
    read it or reads element i for element i; else it is copied there at the end.

    Needs: kernels (`dpc-form-kernels`). Keeps: the order of the ops.

    ```mlir
    %p1 = nn.update (%p, %g : ...) ...  // result state "w"
    // becomes
    exec.launch @kernel.0(%p, %g) into (%p) : ...
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::exec::ExecDialect"];
}

def FormFunctions : Pass<"dpc-form-functions", "mlir::ModuleOp"> {
  let summary = "Joins consecutive launches into the functions that the action table calls";
  let description = [{
    Launches and reads of controls with nothing else between them become one
    `exec.function`, named after the entry and counted.

    Needs: byte offsets (`dpc-assign-offsets`). Keeps: order, offsets.

    ```mlir
    exec.launch @kernel.0(...) ...
    exec.launch @kernel.1(...) ...
    exec.wait %e
    // becomes
    exec.compute @step.0
    exec.wait %e
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
}

#endif // DPC_PASSES_LOWERING_PASSES_TD
