#ifndef DPC_PASSES_LOWERING_PASSES_TD
#define DPC_PASSES_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernels : Pass<"dpc-outline-kernels", "mlir::ModuleOp"> {
  let summary = "Moves each kernel into a private function; equal kernels share one";
  let description = [{
    Every `nn.kernel` and `nn.update` becomes a call. Two share a function when
    their types, attributes and regions are equal. For each sum over the
    iterations of a `dist.micro` there is a kernel that adds one iteration's value, named after its
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
    Option<"tf32", "tf32", "bool", "false",
           "Products of f32 may round their factors to tf32">,
    Option<"products", "products", "::dpc::ProductMaker", "::dpc::ProductMaker::bySize",
           "Who multiplies matrices on a device that may have a library for it",
           [{::llvm::cl::values(
               clEnumValN(::dpc::ProductMaker::bySize, "auto", "The library, where they are large"),
               clEnumValN(::dpc::ProductMaker::generated, "generated", "The kernels themselves"),
               clEnumValN(::dpc::ProductMaker::library, "library",
                          "The library, wherever it can"))}]>,
  ];
}

def LowerToExec : Pass<"dpc-lower-to-exec", "mlir::ModuleOp"> {
  let summary = "Turns tensors into buffers";
  let description = [{
    @step, @eval and @infer become `exec.entry`s, whose ops run in the order in which
    they stand. State, inputs, controls, metrics, outputs and the rank's coordinates
    become `exec.persistent` buffers that the entries share and the host knows; other
    values become buffers of their own, and results are copied to where they live at
    the end; a reshape becomes a view, as do the members and a rank's shard of flat
    storage; a call of a kernel becomes a launch. A collective is waited for at once.
    A `dist.micro` becomes a loop; sums over its iterations are accumulated in place.

    Needs: `dpc-outline-kernels`. Keeps: values, the order of the ops.

    ```mlir sketch
    %p1 = call @kernel.0(%p, %g) : ...  // result state "w"
    // becomes
    exec.launch @kernel.0(%p, %g) into (%0) : ...
    exec.copy %0 to %p : ...
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::exec::ExecDialect"];
}

def ComputeInPlace : Pass<"dpc-compute-in-place", "mlir::ModuleOp"> {
  let summary = "Computes values where they are copied, summed or gathered to";
  let description = [{
    A buffer that is copied to another one becomes a view of that: a launch writes
    the new value of a state over the old one, a gradient into its place in a
    bucket, the value of a microbatch into its slice. So do the operand of an
    all-reduce, which is summed in place, the operand of an all-gather, which
    becomes the rank's shard of the result, and the result of a reduce-scatter,
    which becomes the rank's shard of the operand, but not if it is read until later
    buckets are full, as it would keep all of the operand.

    Only where no byte is needed for two values at once: nothing touches the target
    from the first write of the buffer to the copy, and nothing writes it as long as
    the buffer is read. The launch that writes the buffer first may read the very
    bytes that it then writes if its kernel computes in place.

    Needs: `dpc-lower-to-exec`; without `dpc-generate-code` nothing is known to
    compute in place. Keeps: values, the order of the ops.

    ```mlir sketch
    exec.launch @kernel.0(%p, %g) into (%0) : ...
    exec.copy %0 to %p : ...
    // becomes
    exec.launch @kernel.0(%p, %g) into (%p) : ...
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
}

def MarkPurposes : Pass<"dpc-mark-purposes", "mlir::ModuleOp"> {
  let summary = "Says what the buffers and collectives of an entry are for";
  let description = [{
    Gives every `exec.buffer` and `exec.start` that is not for activations its
    `exec.purpose`: parameters, gradients or metrics. Reports and traces tell them
    apart by it; nothing else depends on it.

    Needs: `dpc-compute-in-place`. Keeps: everything else.

    ```mlir sketch
    %0 = exec.buffer shared : memref<32xf32>
    exec.launch @update(%w, %0) into (%w) : ...
    // becomes
    %0 = exec.buffer shared {exec.purpose = #exec.purpose<gradients>} : memref<32xf32>
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
}

def FormFunctions : Pass<"dpc-form-functions", "mlir::ModuleOp"> {
  let summary = "Joins consecutive launches into the functions that the action table calls";
  let description = [{
    Launches, copies and numbers of microbatches with nothing else between them
    become one `exec.function`, named after the entry and counted. Each function
    names the buffers that it uses; a buffer that several name has one number. The plan
    (`dist.plan`), which no later pass follows, leaves the module.

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
