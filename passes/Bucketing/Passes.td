#ifndef DPC_PASSES_BUCKETING_PASSES_TD
#define DPC_PASSES_BUCKETING_PASSES_TD

include "mlir/Pass/PassBase.td"

def DivideUpdates : Pass<"dpc-divide-updates", "mlir::ModuleOp"> {
  let summary = "Divides updates among the ranks that would all make the same";
  let description = [{
    Where ranks sum a gradient and then make one and the same update, each sums and
    updates a shard: the all-reduce becomes a reduce-scatter of the gradient before
    and an all-gather of the parameter after the update. That moves as many bytes
    between ranks, but each computes with, and keeps optimizer state for, its
    shard only. (Rajbhandari et al., "ZeRO", SC 2020; Xu et al., "Automatic
    cross-replica sharding of weight update", 2020.) The bits are the same: the
    shard of a sum is the sum's shard; those of a norm may differ in the last place.

    Updates with equal regions, scalars and groups of ranks are joined into
    buckets (BucketPlan.h). The gradients of a bucket are laid end to end, and so
    are its parameters and each of its slots of optimizer state, in the same
    places: the program takes them as one argument each (#dist.storage), cut evenly
    where it is optimizer state. The norm by which gradients are clipped is summed
    from the squares of the shards.

    An update may go on in a second one, with numbers made of norms of whole tensors
    (LAMB's trust ratios): each rank sums the squares of its part of every member, the
    ranks sum these as one small vector, and the numbers are laid out like the members.

    From stage 2 on, gradients that a loop over microbatches sums are divided in its
    body, so that shards are what accumulates. At stage 3 parameters are cut too, in
    every function: a bucket is gathered where the forward pass first reads it and again
    where anything else does, in the body of a loop too; up to `keep-bytes` of them
    once, to be kept until all have read them. So are weights that are not trained. What
    is only read in a narrower type is gathered in that type.

    Left alone: an update of which a tensor is neither state nor a summed gradient
    that nothing but its norm reads; state that is cut over the axes of the sum; a bucket
    so small that another collective takes longer than what is saved.

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

def BucketCollectives : Pass<"dpc-bucket-collectives", "mlir::func::FuncOp"> {
  let summary = "Joins all-reduces of small tensors into all-reduces of buckets";
  let description = [{
    All-reduces of one element type over one group of devices that do not wait for
    each other, and for both or neither of which another collective waits, are
    joined into buckets (BucketPlan.h): their operands are laid end to end, summed
    as one, and taken apart again. Buckets fill in the order in which their
    operands are computed. Only what a kernel or a loop computes for its all-reduce
    alone is joined, as that can be computed straight into the bucket.

    The ops of each block are sorted by the number of collectives on the longest
    path to them first, and keep their order otherwise: collectives that do not
    depend on each other come together, and what waits for one comes after what
    does not.

    Needs: kernels formed. Keeps: values.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%g: tensor<4x3xf32>, %h: tensor<5xf32>) {
      %0 = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x3xf32>
      %1 = dist.all_reduce sum %h on @mesh ["data"] : tensor<5xf32>
      return
    }
    // becomes
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%g: tensor<4x3xf32>, %h: tensor<5xf32>) {
      %p = dist.pack %g, %h at [0, 16] : tensor<4x3xf32>, tensor<5xf32> -> tensor<32xf32>
      %r = dist.all_reduce sum %p on @mesh ["data"] : tensor<32xf32>
      %0, %1 = dist.unpack %r at [0, 16] : tensor<32xf32> -> tensor<4x3xf32>, tensor<5xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::dpc::dist::DistDialect"];
  let options = [
    Option<"firstBucketBytes", "first-bucket-bytes", "int64_t", "1 << 20",
           "Bytes at which the first bucket closes">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "25 << 20",
           "Bytes at which later buckets close">,
  ];
}

#endif // DPC_PASSES_BUCKETING_PASSES_TD
