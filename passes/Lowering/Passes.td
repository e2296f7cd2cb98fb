#ifndef DPC_PASSES_LOWERING_PASSES_TD
#define DPC_PASSES_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernels : Pass<"dpc-outline-kernels", "mlir::ModuleOp"> {
  let summary = "Moves each kernel into a private function; equal kernels share one";
  let description = [{
    Every `nn.kernel` and `nn.update` becomes a call. Two share a function when
    their types, attributes and regions are equal. For each sum over the turns of
    a `dist.micro` there is a kernel that adds one turn's value, named after its
    type: @accumulate.f32.1024.

    Needs: kernels (`dpc-form-kernels`). Keeps: the order of the ops.

    ```mlir sketch
    %y = nn.kernel (%x : tensor<4xf32>) { ... } -> tensor<4xf32>
    // becomes
    %y = call @kernel.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def GenerateCode : Pass<"dpc-generate-code", "mlir::ModuleOp"> {
  let summary = "Generates the loops of every kernel";
  let description = [{
    Adds the code to a nested module @code, which has a module for each kernel, and
    records on each kernel what its callers must know: scratch bytes, and which
    results may lie on operands.

    Equal operands give an op's result the same bits in every kernel: products and
    sums of different ops are never contracted, and a sum that is computed at more
    than one place adds its terms in order (decision 0015). A sum computed at one
    place adds them as is fastest there, unless `ordered-sums` is set; then bits do
    not depend on how ops are grouped into kernels either.

    Needs: `dpc-outline-kernels`, `dpc-describe-machine`. Keeps: everything else.
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
  let options = [
    Option<"recompute", "recompute", "bool", "true",
           "Short computations are repeated by each reader; false: kept in memory">,
    Option<"orderedSums", "ordered-sums", "bool", "false",
           "Every sum adds its terms in their order">,
  ];
}

def LowerToExec : Pass<"dpc-lower-to-exec", "mlir::ModuleOp"> {
  let summary = "Turns tensors into buffers and program order into the order of execution";
  let description = [{
    @step, @eval and @infer become `exec.entry`s. State, inputs, metrics and outputs
    become `exec.resident` buffers that the entries share; other values become
    buffers of their own; a reshape becomes a view, as do the members and a rank's
    share of flat storage; a call of a kernel becomes a launch.

    The new value of a piece of state is written into the buffer of the old one
    where nothing reads the old value afterwards and the kernel may compute in
    place; else it is copied there at the end.

    All-reduces of one type over one group of ranks that do not wait for each
    other, and for both or neither of which another collective waits, are joined into buckets: their operands are computed into parts of one
    buffer (BucketPlan.h), whose collective starts when the last part is ready and
    is waited for before the first use of any. What depends on a collective is
    moved behind what does not; updates and metrics come where a simulated
    timeline (StreamSchedule.h) has them wait least. A `dist.micro` becomes a loop; sums over its turns
    are accumulated in place.

    Needs: `dpc-outline-kernels`; without `dpc-generate-code` nothing is known to
    compute in place. Keeps: values.

    ```mlir sketch
    %p1 = call @kernel.0(%p, %g) : ...  // result state "w"
    // becomes
    exec.launch @kernel.0(%p, %g) into (%p) : ...
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::exec::ExecDialect"];
  let options = [
    Option<"firstBucketBytes", "first-bucket-bytes", "int64_t", "1 << 20",
           "Bytes at which the first bucket closes">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "25 << 20",
           "Bytes at which later buckets close">,
    Option<"overlap", "overlap", "bool", "true",
           "Compute while a collective is under way; false: wait at once">,
  ];
}

def FormFunctions : Pass<"dpc-form-functions", "mlir::ModuleOp"> {
  let summary = "Joins consecutive launches into the functions that the action table calls";
  let description = [{
    Launches and reads of controls with nothing else between them become one
    `exec.function`, named after the entry and counted.

    Needs: byte offsets (`dpc-assign-offsets`). Keeps: order, offsets.

    ```mlir sketch
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
