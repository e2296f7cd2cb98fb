#ifndef DPC_PASSES_OVERLAP_PASSES_TD
#define DPC_PASSES_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

def PeelMicrobatches : Pass<"dpc-peel-microbatches", "mlir::func::FuncOp"> {
  let summary = "Takes the last microbatch out of the loop, so that sums over ranks start in it";
  let description = [{
    What a loop over microbatches sums is complete when the loop ends: the ranks
    could only sum it further when nothing is left to compute. After this pass the
    last microbatch's ops follow the loop and add to its sums one by one, so that
    each gradient goes on its way while the rest of that microbatch computes, as
    without microbatches. Other frameworks leave this to the user (PyTorch's
    `no_sync` around all but the last backward).

    The last microbatch reads its slice of what the loop reads by slices, and gives
    its slice of what the loop stacks: views, no copies.

    No part of the pipeline from stage 2 of divided state on (`dpc-divide-updates`): there
    each microbatch's gradients are divided in the loop.

    Left alone: loops none of whose sums the ranks sum, or of fewer bytes than
    `smallest-bytes`; loops of one iteration.

    Needs: level `local`, before kernels are formed. Keeps: values; the order of
    additions too.

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
  let summary = "Orders a function's ops: little waiting for collectives, little memory";
  let description = [{
    Plays the ops of each function, and of each body of a loop that communicates, against
    its collectives on a simulated timeline (StreamSchedule.h). Flat storage that is
    gathered where it is read is gathered two buckets ahead, and no earlier. What other ops use keeps its order, for the sake of memory;
    what is computed last (updates, metrics), and the terms of a norm of gradients that
    ranks have summed, come right after what they read, or
    where they wait less, but the new value of a state after those who read the old
    one, so that it may take its place. Numbers that are made of what the host
    writes, such as a learning rate, come first. Collectives stand where they start, in the order in which they could
    start one at a time.

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
    Moves each wait down to the first op that reads what its collective writes, or
    writes what it reads; to the next loop, whose iterations reuse buffers; or to
    the end of the block.

    Needs: buffers (`dpc-lower-to-exec`) that are merged (`dpc-compute-in-place`).
    Keeps: values, and the order of everything else.

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
