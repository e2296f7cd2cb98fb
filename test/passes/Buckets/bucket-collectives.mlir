// RUN: dpc-opt %s --split-input-file --dpc-bucket-collectives | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-bucket-collectives="first-bucket-bytes=32 bucket-bytes=16" | FileCheck %s --check-prefix=LIMIT

// All-reduces that do not wait for each other are one all-reduce of one tensor, into
// which their operands are laid as soon as the last is there; what waits for one
// comes after what does not. Buckets close at their limits.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @buckets_independent_all_reduces
// CHECK-COUNT-3: nn.kernel
// CHECK: %[[P:.*]] = dist.pack %[[A:.*]], %[[B:.*]], %[[C:.*]] at [0, 16, 32] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<48xf32>
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum %[[P]] on @mesh ["data"] : tensor<48xf32>
// CHECK-NEXT: %[[S:.*]]:3 = dist.unpack %[[R]] at [0, 16, 32] : tensor<48xf32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[U:.*]] = nn.kernel(%[[S]]#0 : tensor<4xf32>)
// CHECK: return %[[U]], %[[S]]#1, %[[S]]#2
// LIMIT-LABEL: @buckets_independent_all_reduces
// LIMIT: dist.pack {{.*}} at [0, 16] : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
// LIMIT: dist.all_reduce sum %{{.*}} on @mesh ["data"] : tensor<4xf32>
// LIMIT: return
func.func @buckets_independent_all_reduces(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u = nn.kernel(%s : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %h = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  %i = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %v = dist.all_reduce sum %i on @mesh ["data"] : tensor<4xf32>
  return %u, %t, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----
// Sums over other ranks, and other reductions, are other collectives.
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
// CHECK-LABEL: @keeps_other_ranks_and_reductions
// CHECK-NOT: dist.pack
func.func @keeps_other_ranks_and_reductions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %h = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %i = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %t = dist.all_reduce sum %h on @mesh ["model"] : tensor<4xf32>
  %u = dist.all_reduce max %i on @mesh ["data"] : tensor<4xf32>
  return %s, %t, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----
// One that waits for another is a collective of its own.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @keeps_dependent_all_reduce
// CHECK-NOT: dist.pack
func.func @keeps_dependent_all_reduce(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %h = nn.kernel(%s : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----
// A sum that another collective waits for is not kept back by one that is only
// reported.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @keeps_awaited_sum_apart
// CHECK-NOT: dist.pack
func.func @keeps_awaited_sum_apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %h = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  %i = nn.kernel(%s : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %u = dist.all_reduce sum %i on @mesh ["data"] : tensor<4xf32>
  return %t, %u : tensor<4xf32>, tensor<4xf32>
}

// -----
// What is no kernel's result, or is read elsewhere too, could not be computed into a
// bucket: it is summed by itself.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @keeps_operands_without_bucket
// CHECK-NOT: dist.pack
func.func @keeps_operands_without_bucket(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %h = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  %u = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return %s, %t, %u, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----
// Inside a loop over microbatches too, and what the loop sums.
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: @buckets_inside_loop
// CHECK: dist.micro
// CHECK: dist.pack {{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
// CHECK: dist.yield
// CHECK: dist.pack {{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
func.func @buckets_inside_loop(%x: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
  %g = nn.kernel(%m : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %h = nn.kernel(%m : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
    %s = dist.all_reduce max %g on @mesh ["data"] : tensor<4xf32>
    %t = dist.all_reduce max %h on @mesh ["data"] : tensor<4xf32>
    dist.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>) results [summed, summed]
  %1 = dist.all_reduce sum %0#0 on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_reduce sum %0#1 on @mesh ["data"] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----
// Messages keep their order, although the operand of the first one depends on a collective.
dist.mesh @mesh axes ["data", "pipe"] sizes [2, 2]
// CHECK-LABEL: @messages_keep_their_order
// CHECK: dist.all_reduce
// CHECK: dist.send {{.*}} number 0
// CHECK: dist.recv {{.*}} number 1
func.func @messages_keep_their_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = nn.kernel(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  dist.send %s to 1 on @mesh "pipe" number 0 : tensor<4xf32>
  %r = dist.recv from 1 on @mesh "pipe" number 1 : tensor<4xf32>
  return %r : tensor<4xf32>
}
