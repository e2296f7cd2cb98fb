// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=2 axes=data" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="smallest-bytes=0" | FileCheck %s --check-prefix=AUTO

// What ranks sum is converted to the type of the gradient before it travels, and what all of them have after it was
// added: the sum is rounded once.
module @narrows_before_scatter {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @narrows_before_scatter
// CHECK-LABEL: @step
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<4x2xf32>{{.*}}, %[[Y:[a-z0-9]*]]: tensor<4x2xf32> {dist.layout
// CHECK-DAG: %[[P:.*]] = nn.convert %[[X]] : tensor<4x2xf32> -> tensor<4x2xbf16>
// CHECK-DAG: %[[A:.*]] = dist.pack %[[P]] at [0]{{.*}} -> tensor<64xbf16>
// CHECK-DAG: %[[S:.*]] = nn.reshape %[[A]] : tensor<64xbf16> -> tensor<2x32xbf16>
// CHECK-DAG: %[[R:.*]] = dist.reduce_scatter sum %[[S]] on @mesh ["data"] : tensor<2x32xbf16> -> tensor<32xbf16>
// CHECK-DAG: %[[F:.*]] = nn.convert %[[R]] : tensor<32xbf16> -> tensor<32xf32>
// CHECK-DAG: dist.pack %[[Y]] at [0]{{.*}} -> tensor<64xf32>
// CHECK: %[[T:.*]] = nn.add %[[F]], %{{.*}} : tensor<32xf32>
// CHECK: %[[G:.*]] = nn.convert %[[T]] : tensor<32xf32> -> tensor<32xbf16>
// CHECK: nn.update(%{{.*}}, %[[G]] : tensor<32xf32>, tensor<32xbf16>)
// Without axes that are named, a gradient with a term that all have is left alone.
// AUTO-LABEL: module @narrows_before_scatter
// AUTO: dist.all_reduce
// AUTO-NOT: dist.reduce_scatter
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<4x2xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[4], [2]">},
                %y: tensor<4x2xf32> {nn.arg = #nn.arg<input "y">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}) {
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4x2xf32>
  %t = nn.add %s, %y : tensor<4x2xf32>
  %g = nn.convert %t : tensor<4x2xf32> -> tensor<4x2xbf16>
  %u = nn.update(%w, %g : tensor<4x2xf32>, tensor<4x2xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u : tensor<4x2xf32>
}
}

// -----

// A sum of fewer bits than the gradient travels as it is, and is converted when it has arrived.
module @widens_after_scatter {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @widens_after_scatter
// CHECK: %[[R:.*]] = dist.reduce_scatter sum %{{.*}} : tensor<2x16xbf16> -> tensor<16xbf16>
// CHECK: %[[G:.*]] = nn.convert %[[R]] : tensor<16xbf16> -> tensor<16xf32>
// CHECK: nn.update(%{{.*}}, %[[G]] : tensor<16xf32>, tensor<16xf32>)
// AUTO-LABEL: module @widens_after_scatter
// AUTO: %[[R:.*]] = dist.reduce_scatter sum %{{.*}} : tensor<2x16xbf16> -> tensor<16xbf16>
// AUTO: %[[G:.*]] = nn.convert %[[R]]
// AUTO: nn.update(%{{.*}}, %[[G]] : tensor<16xf32>, tensor<16xf32>)
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<4x2xbf16> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}) {
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4x2xbf16>
  %g = nn.convert %s : tensor<4x2xbf16> -> tensor<4x2xf32>
  %u = nn.update(%w, %g : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u : tensor<4x2xf32>
}
}

// -----

// A conversion that something else reads too needs the whole sum.
module @other_reader_keeps_all_reduce {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @other_reader_keeps_all_reduce
// CHECK: dist.all_reduce sum
// CHECK-NOT: dist.reduce_scatter
// AUTO-LABEL: module @other_reader_keeps_all_reduce
// AUTO-NOT: dist.reduce_scatter
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<4x2xbf16> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<4x2xbf16> {nn.result = #nn.result<output "s">}) {
  %s = dist.all_reduce sum %x on @mesh ["data"] : tensor<4x2xbf16>
  %g = nn.convert %s : tensor<4x2xbf16> -> tensor<4x2xf32>
  %u = nn.update(%w, %g : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %s : tensor<4x2xf32>, tensor<4x2xbf16>
}
}

// -----

// In a loop each microbatch's part is converted before it travels, and back before the parts are added up.
module @narrows_parts_of_microbatches {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @narrows_parts_of_microbatches
// CHECK: %[[L:.*]] = dist.micro 2 "micro"
// CHECK: %[[E:.*]] = nn.exp
// CHECK: %[[N:.*]] = nn.convert %[[E]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK: dist.pack %[[N]] at [0]
// CHECK: %[[R:.*]] = dist.reduce_scatter sum %{{.*}} : tensor<2x32xbf16> -> tensor<32xbf16>
// CHECK: %[[F:.*]] = nn.convert %[[R]] : tensor<32xbf16> -> tensor<32xf32>
// CHECK: dist.yield %[[F]]
// CHECK: results [summed]
// CHECK: %[[G:.*]] = nn.convert %[[L]] : tensor<32xf32> -> tensor<32xbf16>
// CHECK: nn.update(%{{.*}}, %[[G]] : tensor<32xf32>, tensor<32xbf16>)
// Outside of it, what is summed is converted and travels.
// AUTO-LABEL: module @narrows_parts_of_microbatches
// AUTO: %[[L:.*]] = dist.micro 2 "micro"
// AUTO: dist.yield %{{.*}} : tensor<4xf32>
// AUTO: %[[N:.*]] = nn.convert %[[L]] : tensor<4xf32> -> tensor<4xbf16>
// AUTO: dist.reduce_scatter sum %{{.*}} : tensor<2x32xbf16> -> tensor<32xbf16>
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4]">},
                %x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2: micro)], [4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %m = dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%xm: tensor<4xf32>):
    %0 = nn.exp %xm : tensor<4xf32>
    dist.yield %0 : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  %n = nn.convert %m : tensor<4xf32> -> tensor<4xbf16>
  %g = dist.all_reduce sum %n on @mesh ["data"] : tensor<4xbf16>
  %u = nn.update(%w, %g : tensor<4xf32>, tensor<4xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u : tensor<4xf32>
}
}
