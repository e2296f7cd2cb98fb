#ifndef DPC_PASSES_BUCKETING_PASSES_TD
#define DPC_PASSES_BUCKETING_PASSES_TD

include "mlir/Pass/PassBase.td"

def DivideUpdates : Pass<"dpc-divide-updates", "mlir::ModuleOp"> {
  let summary = "Divides updates among the ranks that would all make the same";
  let description = [{
    Where ranks sum a gradient and then make one and the same update, each sums and
    updates a share: the all-reduce becomes a reduce-scatter of the gradient before
    and an all-gather of the parameter behind the update. That moves as many bytes
    between ranks, but each computes with, and keeps optimizer state for, its
    share only. (Rajbhandari et al., "ZeRO", SC 2020; Xu et al., "Automatic
    cross-replica sharding of weight update", 2020.) The bits are the same: the
    share of a sum is the sum's share; those of a norm may differ in the last place.

    Updates with equal regions, scalars and groups of ranks are joined into
    buckets (BucketPlan.h). The gradients of a bucket are laid end to end, and so
    are its parameters and each of its slots of optimizer state, in the same
    places: the program takes them as one argument each (#dist.storage), cut evenly
    where it is optimizer state. The norm by which gradients are clipped is summed
    from the squares of the shares.

    Left alone: an update of which a tensor is neither state nor a summed gradient
    that nothing but its norm reads (LAMB's ratios, say); state that is cut over the axes
    of the sum; a bucket so small that another collective takes longer than what is
    saved.

    Needs: level `local`, kernels formed. Keeps: values of parameters, and of state
    as the host sees it.

    ```mlir sketch
    %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<64x64xf32>
    %w1 = nn.update(%w, %s : ...) scalars(%lr : tensor<f32>) { ... } -> tensor<64x64xf32>
    // becomes
    %b = dist.pack %g at [0] : tensor<64x64xf32> -> tensor<4096xf32>
    %p = nn.reshape %b : tensor<4096xf32> -> tensor<2x2048xf32>
    %s = dist.reduce_scatter sum %p on @mesh ["data"] : tensor<2x2048xf32> -> tensor<2048xf32>
    %v = dist.share %storage on @mesh ["data"] : tensor<4096xf32> -> tensor<2048xf32>
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
    Option<"smallestBytes", "smallest-bytes", "int64_t", "-1",
           "Bytes of gradients below which a bucket is not divided; -1: the cost model decides">,
    Option<"explain", "explain", "bool", "false", "Say in a remark which updates are divided, and which are not">,
  ];
}

#endif // DPC_PASSES_BUCKETING_PASSES_TD
