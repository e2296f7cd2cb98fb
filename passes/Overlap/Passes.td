#ifndef DPC_PASSES_OVERLAP_PASSES_TD
#define DPC_PASSES_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

def AdvanceSums : Pass<"dpc-advance-sums", "mlir::func::FuncOp"> {
  let summary = "Moves the terms of gradient norms to directly after their gradients";
  let description = [{
    The program lists the terms of the norm of all gradients, and the sums over ranks
    that these terms need, after the entire backward pass. A kernel that computes both a
    gradient and its term would run there, and all its operands would be kept until
    then. This pass moves the terms to directly after their gradients. In general, the
    pass moves each view, elementwise op, reduction or collective of the backward pass of
    `@step`, unless the op reads a tensor of rank 1 or more that the forward pass computes
    (`runsAtOnce`, passes/Forward/EarlyOps.h).

    Left alone: ops that read only single numbers, such as the sum of the terms; updates; functions
    without a metric `loss` or without updates.

    Needs: level `local`. Keeps: values, every op.

    ```mlir sketch
    %g = nn.dot %x, %d contract [0] [0] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    ... // the rest of the backward pass
    %q = nn.mul %g, %g : tensor<16x16xf32>
    %t = nn.reduce sum %q [0, 1] : tensor<16x16xf32> -> tensor<f32>
    // becomes
    %g = nn.dot %x, %d contract [0] [0] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    %q = nn.mul %g, %g : tensor<16x16xf32>
    %t = nn.reduce sum %q [0, 1] : tensor<16x16xf32> -> tensor<f32>
    ...
    ```
  }];
}

def FreeOperands : Pass<"dpc-free-operands", "mlir::func::FuncOp"> {
  let summary = "Runs kernels that shrink tensors of the forward pass before these tensors are kept";
  let description = [{
    The backward pass has kernels that read results of the forward pass alone, e.g. those that
    find the largest elements of the windows of a pooling. At their position in the program, the
    tensors that they read would be kept until then. The pass moves such a kernel if the
    tensors whose last reader it is have more bytes than its results. The kernel then
    comes directly after the op that computes the last of its operands, and after the other
    readers of these tensors. The views that the kernel reads move with it.

    Left alone: functions without a metric `loss`; the pieces of a pipeline's stage.

    Needs: kernels formed. Keeps: values, every op.

    ```mlir sketch
    %x = nn.kernel (...) { ... } -> tensor<64x256xf32>
    %y = nn.kernel (%x : tensor<64x256xf32>) { ... } -> tensor<64x16xf32>
    ... // the rest of the forward pass
    %t = nn.kernel (%x : tensor<64x256xf32>) { ... } -> tensor<64x16xi8>
    // becomes
    %x = nn.kernel (...) { ... } -> tensor<64x256xf32>
    %y = nn.kernel (%x : tensor<64x256xf32>) { ... } -> tensor<64x16xf32>
    %t = nn.kernel (%x : tensor<64x256xf32>) { ... } -> tensor<64x16xi8>
    ...
    ```
  }];
}

def PeelMicrobatches : Pass<"dpc-peel-microbatches", "mlir::func::FuncOp"> {
  let summary = "Moves the last microbatch out of its loop, so that it overlaps with all-reduces";
  let description = [{
    A microbatch loop completes its sums only when it ends. The ranks could therefore start
    to all-reduce these sums only when no computation is left to overlap with. This pass
    places the ops of the last microbatch after the loop, where each gradient is added to
    its sum as soon as it is computed. The all-reduce of a gradient then overlaps with the
    rest of the last microbatch, as in a step without microbatches. Other frameworks leave
    this to the user (PyTorch's `no_sync` around all backward passes but the last).

    The last microbatch reads its slice of each sliced operand of the loop as a view,
    without a copy. A `dist.pack` joins each stacked result of the loop with the value of
    the last microbatch.

    The pipeline leaves this pass out if gradients are sharded (stages 2 and 3 of
    `dpc-divide-updates`): the loop then reduce-scatters the gradients of each microbatch.

    Unchanged: loops of one iteration; loops whose summed results the ranks do not
    reduce; loops whose reduced results have fewer than `smallest-bytes` bytes in all.

    Needs: level `local`, before kernels are formed. Keeps: values, and the order of
    additions.

    ```mlir sketch
    %s = dist.micro 4 "micro" (%x : tensor<4x8x16xf32>) operands [sliced] {
    ^bb0(%xm: tensor<8x16xf32>):
      %g = nn.exp %xm : tensor<8x16xf32>
      dist.yield %g : tensor<8x16xf32>
    } -> (tensor<8x16xf32>) results [summed]
    %a = dist.all_reduce sum %s on @mesh ["data"] : tensor<8x16xf32>
    // becomes
    %s = dist.micro 3 "micro" (%head : tensor<3x8x16xf32>) operands [sliced] { ... }
    %g = nn.exp %last : tensor<8x16xf32>
    %t = nn.add %s, %g : tensor<8x16xf32>
    %a = dist.all_reduce sum %t on @mesh ["data"] : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    Option<"smallestBytes", "smallest-bytes", "int64_t", "1 << 16",
           "Fewest bytes that the ranks sum after a loop that is taken apart">,
    Option<"explain", "explain", "bool", "false",
           "Emit a remark for each loop that is taken apart">,
  ];
}

def OrderComputation : Pass<"dpc-order-computation", "mlir::ModuleOp"> {
  let summary = "Orders ops so that kernels seldom wait for collectives, and memory stays small";
  let description = [{
    Simulates the ops of each function on a timeline, together with their collectives
    (StreamSchedule.h). Does the same for each loop body that has collectives. Orders
    the ops as follows.

    - Ops whose results other ops use keep their order, because a new order could need
      more memory.
    - In a function, updates, metrics and the terms of the norm of reduced gradients are
      placed directly after their operands, or later if that shortens the wait. The new
      value of a state is placed after all readers of the old value, so that both can share
      a buffer.
    - Scalars that are computed from host-written scalars, such as a learning rate, are
      placed first.
    - At any time, at most two gathered buckets of sharded state wait for their first
      reader. More are allowed only if one op is the first reader of all of them.
    - Each collective is placed at the position where it starts. Collectives start in the
      order in which they would become ready if the link carried one collective at a time. A
      collective whose result no op computes with may start a little later.

    Needs: kernels formed, `dpc-describe-machine`. Keeps: values.

    ```mlir sketch
    %a = dist.all_reduce sum %g on @mesh ["data"] : tensor<4096xf32>
    %w1 = nn.update(%w, %a : tensor<4096xf32>, tensor<4096xf32>) scalars() { ... } -> tensor<4096xf32>
    %h = nn.kernel (%x : tensor<512x512xf32>) { ... } -> tensor<512x512xf32>
    // becomes
    %a = dist.all_reduce sum %g on @mesh ["data"] : tensor<4096xf32>
    %h = nn.kernel (%x : tensor<512x512xf32>) { ... } -> tensor<512x512xf32>
    %w1 = nn.update(%w, %a : tensor<4096xf32>, tensor<4096xf32>) scalars() { ... } -> tensor<4096xf32>
    ```
  }];
}

def DelayWaits : Pass<"dpc-delay-waits", "mlir::ModuleOp"> {
  let summary = "Waits for each collective where its result is first needed";
  let description = [{
    Moves each wait down to the first op that conflicts with the collective: an op that
    accesses the output of the collective or writes its input. If a loop comes first, the
    wait is placed before the loop, because iterations reuse buffers. If neither comes,
    the wait is placed at the end of the block.

    Needs: buffers (`dpc-lower-to-exec`) that are merged (`dpc-compute-in-place`).
    Keeps: values, and the order of all other ops.

    ```mlir
    exec.entry @step {
      %0 = exec.buffer shared : memref<4xf32>
      %1 = exec.buffer arena : memref<8xf32>
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 0 : memref<4xf32>, memref<4xf32>
      exec.wait %e
      exec.zero %1 : memref<8xf32>
      exec.zero %0 : memref<4xf32>
    }
    // becomes
    exec.entry @step {
      %0 = exec.buffer shared : memref<4xf32>
      %1 = exec.buffer arena : memref<8xf32>
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 0 : memref<4xf32>, memref<4xf32>
      exec.zero %1 : memref<8xf32>
      exec.wait %e
      exec.zero %0 : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
}

#endif // DPC_PASSES_OVERLAP_PASSES_TD
