#ifndef DPC_PASSES_SHARDEDUPDATES_PASSES_TD
#define DPC_PASSES_SHARDEDUPDATES_PASSES_TD

include "mlir/Pass/PassBase.td"

def DivideUpdates : Pass<"dpc-divide-updates", "mlir::ModuleOp"> {
  let summary = "Divides each update among the ranks that would all compute it alike";
  let description = [{
    If ranks sum a gradient and then all make the same update, the pass lets each rank sum
    and update only a shard. The all-reduce becomes a reduce-scatter of the gradient before the
    update and an all-gather of the parameter after the update. The ranks exchange as many
    bytes as before, but each rank updates only its shard, and keeps optimizer state only
    for its shard. (Rajbhandari et al., "ZeRO", SC 2020; Xu et al., "Automatic cross-replica
    sharding of weight update", 2020.) The result has the same bits as before, because a
    shard of the sum equals the sum of the shards. Only the last bits of a gradient norm may
    differ.

    Updates can join one bucket (BucketPlan.h) only if they have equal regions, scalars and
    groups of ranks. The gradients of a bucket lie end to end in one tensor. The parameters
    of the bucket lie in another tensor, and each slot of the optimizer state in one more
    tensor, all at the same offsets. The program takes each of these tensors of state as one
    argument (#dist.storage). The tensors of optimizer state are sharded evenly. The norm by
    which gradients are clipped is computed from the sums of squares of the shards.

    An update may have a follower: a second update whose scalars are computed from norms of
    complete tensors (LAMB's trust ratios). Each rank then sums the squares of its part of
    every member, and the ranks sum the results as one small vector. The follower reads a
    tensor in which each element is the scalar of the member that the element belongs to.

    The option `stage` is the ZeRO stage. From stage 2 on, if a loop over microbatches sums
    gradients, these gradients are reduce-scattered in the body of the loop, so that the
    loop accumulates shards.

    At stage 3, parameters are sharded too, in every function. A bucket of parameters is
    gathered twice: before the first op of the forward pass that reads it, and before the
    first other op that reads it. If a loop over microbatches reads the parameters, both
    gathers are in the body of the loop. Some buckets, of at most `keep-bytes` in total, are
    gathered only once and stay in memory until their last reader. Weights that are not
    trained are sharded in the same way. If all readers of a parameter convert it to one
    narrower type, it is gathered in that type.

    The pass does not divide:

    - an update that reads a tensor which is neither one of its states nor its gradient;
    - an update whose optimizer state another op reads too;
    - if `axes` is empty: an update whose gradient is not a sum over ranks, or is also
      read by an op other than the gradient norm;
    - an update of state that is already sharded over one of the axes of the division;
    - if `stage` is -1: a bucket so small that the additional collective takes longer than
      the time that the division saves.

    Needs: level `local`. Keeps: values of parameters, and of state as the host sees
    it.

    ```mlir sketch
    %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<64x64xf32>
    %w1 = nn.update(%w, %s : ...) scalars(%lr : tensor<f32>) { ... } -> tensor<64x64xf32>
    // becomes
    %b = dist.pack %g at [0] : tensor<64x64xf32> -> tensor<4096xf32>
    %p = nn.reshape %b : tensor<4096xf32> -> tensor<2x2048xf32>
    %s = dist.reduce_scatter sum %p on @mesh ["data"] : tensor<2x2048xf32> -> tensor<2048xf32>
    %v = dist.shard %storage on @mesh ["data"] : tensor<4096xf32> -> tensor<2048xf32>
    %v1 = nn.update(%v, %s : ...) scalars(%lr : tensor<f32>) { ... } -> tensor<2048xf32>
    %a = dist.all_gather %v1 on @mesh ["data"] : tensor<2048xf32> -> tensor<2x2048xf32>
    %storage1 = nn.reshape %a : tensor<2x2048xf32> -> tensor<4096xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    Option<"firstBucketBytes", "first-bucket-bytes", "int64_t", "1 << 20",
           "Bytes at which the first bucket closes">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "25 << 20",
           "Bytes at which later buckets close">,
    Option<"stage", "stage", "int64_t", "-1",
           "Which state is divided: -1, that of updates where it pays; 0, none; 1, all optimizer state; "
           "2, gradients too; 3, parameters too">,
    ListOption<"axes", "axes", "std::string",
               "The mesh axes of the ranks that share updates; empty: those that sum the gradient">,
    Option<"keepBytes", "keep-bytes", "int64_t", "0",
           "Bytes of parameters that are gathered once a step at stage 3, and kept">,
    Option<"smallestBytes", "smallest-bytes", "int64_t", "-1",
           "Bytes of gradients below which a bucket is not divided; -1: the cost model decides">,
    Option<"explain", "explain", "bool", "false", "Say in a remark which updates are divided, and which are not">,
  ];
}

#endif // DPC_PASSES_SHARDEDUPDATES_PASSES_TD
