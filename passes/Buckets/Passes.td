#ifndef DPC_PASSES_BUCKETS_PASSES_TD
#define DPC_PASSES_BUCKETS_PASSES_TD

include "mlir/Pass/PassBase.td"

def BucketCollectives : Pass<"dpc-bucket-collectives", "mlir::func::FuncOp"> {
  let summary = "Joins all-reduces of small tensors into all-reduces of buckets";
  let description = [{
    Joins all-reduces into buckets (BucketPlan.h). The operands of a bucket are packed one
    after the other, reduced by one all-reduce, and unpacked again. The all-reduces of a
    bucket have one reduction, one element type and one group of devices. None of them
    depends on another one. Either each of them is needed by a later collective, or none is.
    Buckets fill in the order in which the operands are computed. An all-reduce joins a
    bucket only if a kernel or a loop computes its operand, and no other op reads that
    operand. The kernel or loop can then write the operand directly into the bucket.

    Before that, the pass sorts the ops of each block by depth: the largest number of
    collectives on any path of operands to the op. Ops of equal depth keep their order. As a
    result, every op that reads the result of a collective comes after the ops that compute
    the operands of all collectives of the same depth, so that one all-reduce can replace
    several.

    Needs: kernels formed. Keeps: values.

    The example leaves out the kernels that compute %g and %h.

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

#endif // DPC_PASSES_BUCKETS_PASSES_TD
