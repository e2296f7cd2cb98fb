#ifndef DPC_PASSES_LOWERING_PASSES_TD
#define DPC_PASSES_LOWERING_PASSES_TD

include "passes/Machine/KernelOptions.td"

def OutlineKernels : Pass<"dpc-outline-kernels", "mlir::ModuleOp"> {
  let summary = "Moves each kernel into a private function; equal kernels share one";
  let description = [{
    Every `nn.kernel` and every `nn.update` becomes a call of a private function. Two of
    these ops share a function if their types, attributes and regions are equal.

    A `dist.micro` loop adds up its summed results over its iterations. The pass adds
    kernels that add the value of one iteration to the sum. Results with the same element
    type and the same number of elements share one kernel, which is named after both, e.g.
    @accumulate.f32.1024.

    Needs: kernels (`dpc-form-kernels`). Keeps: the order of the ops.

    ```mlir sketch
    %y = nn.kernel (%x : tensor<4xf32>) { ... } -> tensor<4xf32>
    // becomes
    %y = call @kernel.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def AlignProducts : Pass<"dpc-align-products", "mlir::ModuleOp"> {
  let summary = "Pads the matrices of products to rows that the target multiplies fast";
  let description = [{
    The fast units of a device read the rows of a matrix in pieces of e.g. 16 bytes, so they
    need rows of a multiple of this length. The target names the length for each product. If
    the rows of a factor or of the result have another length, the pass pads the factors with
    zeros, which add nothing to sums. Long rows become whole lines of memory. Each reader of
    the result gets a slice without the padding, which it reads in place. A reshape that keeps
    rows reshapes the padded rows. Products share the padded copy of a factor.

    The pass pads only factors whose elements take part in many multiplications, because it
    costs a copy. This copy is usually fused with the op that computes the factor.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results, except for the order in
    which a library adds the terms of sums.

    ```mlir sketch
    %y = nn.dot %x, %w contract [1] [1] : tensor<512x768xbf16>, tensor<50257x768xbf16> -> tensor<512x50257xbf16>
    // becomes
    %p = nn.pad %w, %zero low [0, 0] high [7, 0] interior [0, 0] : ... -> tensor<50264x768xbf16>
    %d = nn.dot %x, %p contract [1] [1] : ... -> tensor<512x50264xbf16>
    %y = nn.slice %d starts [0, 0] limits [512, 50257] strides [1, 1] : ... -> tensor<512x50257xbf16>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = kernelOptions;
}

def ReadInPlace : Pass<"dpc-read-in-place", "mlir::ModuleOp"> {
  let summary = "Lets ops read parts of a tensor where they lie";
  let description = [{
    A model may compute queries, keys and values as one tensor, and then take its parts. Each
    part would be a copy. If the target says that an op can read a part in place, the op gets a
    slice of its own, which is marked as read in place and costs nothing. If the part is
    reshaped before the op reads it, the pass reshapes the tensor instead, and takes the part
    afterwards. The part must have complete innermost rows.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results.

    ```mlir sketch
    %s = nn.slice %x starts [0, 64] limits [32, 128] strides [1, 1] : tensor<32x192xf32> -> tensor<32x64xf32>
    %q = nn.reshape %s : tensor<32x64xf32> -> tensor<32x4x16xf32>
    // becomes
    %v = nn.reshape %x : tensor<32x192xf32> -> tensor<32x12x16xf32>
    %q = nn.slice %v starts [0, 4, 0] limits [32, 8, 16] strides [1, 1, 1] : ...
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RoundAddends : Pass<"dpc-round-addends", "mlir::ModuleOp"> {
  let summary = "Rounds the bias of a product to 16 bits if a library wants it so";
  let description = [{
    In mixed precision, a layer adds an f32 bias to a 16-bit product and rounds the sum. A
    library can add the bias before it stores the product (its epilogue), but wants product
    and bias in one type. If the target says that such a library computes the product, the
    pass rounds the bias. The library then rounds the sum once, so the result is about as
    exact as that of an exact bias and a product that is rounded first.

    Needs: gradients are built (`dpc-differentiate`), `dpc-describe-machine`. Keeps: results,
    except for the rounding of the bias.

    ```mlir sketch
    %b = nn.broadcast %bias [1] : tensor<512xf32> -> tensor<1024x512xf32>
    %s = nn.add %product, %b : tensor<1024x512xf32>
    // becomes
    %n = nn.convert %bias : ... -> tensor<512xbf16>
    %w = nn.broadcast %n [1] : tensor<512xbf16> -> tensor<1024x512xbf16>
    %b = nn.convert %w : tensor<1024x512xbf16> -> tensor<1024x512xf32>
    %s = nn.add %product, %b : tensor<1024x512xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = kernelOptions;
}

def NarrowSums : Pass<"dpc-narrow-sums", "mlir::ModuleOp"> {
  let summary = "Lets ops return sums of 16-bit factors in 16 bits, where a library has no others";
  let description = [{
    `dpc-widen-sums` gives the gradients of weights the type of their readers, f32. No engine of
    cuDNN returns sums of 16-bit factors in f32. If the target prefers a result of the type of the
    factors, so that a library can compute the op, the pass gives the op this type. An
    `nn.convert` widens the result for its readers. The sums themselves are f32, and are
    rounded once. Ranks and microbatches add them up after the conversion.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results, up to one rounding to 16 bits.

    ```mlir sketch
    %d = nn.conv_weight_grad %x, %g ... : tensor<64x64x56x56xbf16>, tensor<64x64x56x56xbf16> -> tensor<64x64x3x3xf32>
    // becomes
    %n = nn.conv_weight_grad %x, %g ... : ... -> tensor<64x64x3x3xbf16>
    %d = nn.convert %n : tensor<64x64x3x3xbf16> -> tensor<64x64x3x3xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = kernelOptions;
}

def SetChannelsLast : Pass<"dpc-set-channels-last", "mlir::ModuleOp"> {
  let summary = "Lets chains of convolutions compute with channels last";
  let description = [{
    The engines of a library may read the tensors of a convolution in the order [batch,
    spatial.., channels]. If a tensor has the order [batch, channels, spatial..], the library
    copies it in each call. The target names the order that each convolution wants. The pass
    moves channels after the spatial dimensions in whole chains of ops: convolutions, their
    gradients, elementwise ops, poolings, normalizations, reductions, and ops that move
    elements (`ChannelsOpInterface`). A transposition remains where a chain begins or ends.

    The pass chooses the ops that move by a minimum cut. The cost is the bytes of all
    transpositions, both those that the pass adds and those of the library. State keeps its
    order, so kernels of convolutions and their gradients are transposed in each step.

    Needs: static shapes, gradients are built (`dpc-differentiate`), `dpc-describe-machine`.
    Keeps: results, except for the order in which sums add their terms.

    ```mlir sketch
    %y = nn.conv %x, %w ... : tensor<64x64x56x56xbf16>, tensor<64x64x3x3xbf16> -> tensor<64x64x56x56xbf16>
    %z = nn.relu %y : tensor<64x64x56x56xbf16>
    // becomes
    %u = nn.transpose %x [0, 2, 3, 1] : tensor<64x64x56x56xbf16> -> tensor<64x56x56x64xbf16>
    %v = nn.transpose %w [0, 2, 3, 1] : tensor<64x64x3x3xbf16> -> tensor<64x3x3x64xbf16>
    %y = nn.conv %u, %v ... channelsLast : ... -> tensor<64x56x56x64xbf16>
    %z = nn.relu %y : tensor<64x56x56x64xbf16>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = kernelOptions;
}

def DescribeKernels : Pass<"dpc-describe-kernels", "mlir::ModuleOp"> {
  let summary = "Records the memory that each kernel needs";
  let description = [{
    The buffers of a program depend on two facts about each kernel: the bytes of scratch
    memory, and for each result the operands whose buffers the result may share. The pass
    asks the target for both. The target answers from its plan of the kernel's loops,
    without generating code.

    Needs: `dpc-outline-kernels`, `dpc-describe-machine`. Keeps: everything else.

    ```mlir sketch
    func.func private @kernel.0(%a: tensor<4xf32>) -> tensor<4xf32> {...}
    // gets: no scratch memory; result 0 may share the buffer of operand 0
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
  let options = kernelOptions;
}

def GenerateCode : Pass<"dpc-generate-code", "mlir::ModuleOp"> {
  let summary = "Generates the loops of every kernel";
  let description = [{
    Adds the code to a nested module @code, which has one module per kernel. If kernels run
    as grids of threads, the pass also records the launches of each kernel. If the code
    needs other memory than `dpc-describe-kernels` recorded, the pass fails.

    If two kernels compute the same op on equal operands, the results have the same bits.
    The code never contracts a multiplication of one op and an addition of another op to a
    fused multiply-add. A sum that several kernels compute adds its terms in order
    (decision 0015). A sum that only one kernel computes adds its terms in the fastest
    order, unless `ordered-sums` is set. With `ordered-sums`, the bits of results also do
    not depend on how ops are grouped into kernels.

    Needs: `dpc-describe-kernels` with the same options. Keeps: everything else.
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
  let options = kernelOptions;
}

def LowerToExec : Pass<"dpc-lower-to-exec", "mlir::ModuleOp"> {
  let summary = "Turns tensors into buffers";
  let description = [{
    @step, @eval and @infer become `exec.entry` ops. The ops of an entry run in program
    order.

    - State, inputs, controls that the program reads, metrics, outputs and the coordinates
      of the rank become `exec.persistent` buffers. The entries share these buffers, and the
      host can access them.
    - Each other value becomes a buffer of its own, unless it becomes a view. At the end of
      an entry, the results are copied to their persistent buffers.
    - The result of a reshape becomes a view. So do the members of flat storage, and a
      rank's shard of the storage.
    - A call of a kernel becomes a launch.
    - A collective becomes a start that is directly followed by its wait.
    - A `dist.micro` becomes a loop, which accumulates summed results in place.

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
  let summary = "Computes values directly in the buffers to which they are copied, reduced or gathered";
  let description = [{
    If one buffer is copied to another buffer, the pass turns the first buffer into a view
    of the second, the target. The value is then computed in its final position: the new
    value of a state over the old value, a gradient in its bucket, or the value of a
    microbatch in its slice. The buffers of collectives are merged as well:

    - The operand of an all-reduce becomes a view of the result: the reduction is in place.
    - The operand of an all-gather becomes the rank's shard of the result.
    - The result of a reduce-scatter becomes the rank's shard of the operand. This is not
      done if ops still read the result when two or more later buckets are being filled,
      because the view would keep the complete operand live for that time.

    Buffers are merged only if no byte has to hold two values at once. No op may access the
    target between the first write of the buffer and the copy. No op may write the target
    while other ops still read the buffer. The launch that first writes the buffer is an
    exception: it may read bytes of the target that it does not overwrite and, if its kernel
    can compute in place, also bytes that it overwrites.

    Needs: `dpc-lower-to-exec`, and `dpc-describe-kernels` to know which kernels can compute
    in place. Keeps: values, the order of the ops.

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
  let summary = "Records the purpose of each buffer and each collective of an entry";
  let description = [{
    Sets `exec.purpose` on every `exec.buffer` and `exec.start`, except those for
    activations. A purpose is parameters, gradients, gathered parameters or metrics. Only
    reports and traces use the attribute. The program itself does not depend on it.

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
    Each run of consecutive launches, copies and `exec.microbatch` ops becomes one
    `exec.function`, named after the entry: @step.0, @step.1, .. Every function has its own
    copy of the `exec.buffer` ops that it uses. Each buffer has a number, which its copies in
    several functions share. The pass also removes the plan (`dist.plan`) from the module,
    because no later pass reads it.

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
