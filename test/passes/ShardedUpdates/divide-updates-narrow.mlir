// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=1 axes=data" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=3 axes=data" | FileCheck %s --check-prefix=THREE

// A parameter that is only read in a narrower type is cut at stage 1 too: its shard is converted, and bf16 is gathered,
// once. Its gradient has a type of its own.
module @gathers_narrow_parameter {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @gathers_narrow_parameter
// CHECK-LABEL: @step
// CHECK-SAME: %[[P:.*]]: tensor<32xf32> {dist.storage = #dist.storage<"parameter.0.0" [<#nn.arg<parameter "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// CHECK: %[[N:.*]] = nn.convert %[[P]] : tensor<32xf32> -> tensor<32xbf16>
// CHECK: %[[A:.*]] = dist.all_gather %[[N]] on @mesh ["data"] : tensor<32xbf16> -> tensor<2x32xbf16>
// CHECK: %[[ALL:.*]] = nn.reshape %[[A]] : tensor<2x32xbf16> -> tensor<64xbf16>
// CHECK: %[[W:.*]] = dist.unpack %[[ALL]] at [0] : tensor<64xbf16> -> tensor<4x2xbf16>
// CHECK: nn.dot %[[W]], %[[W]]
// CHECK: %[[G:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<2x32xbf16> -> tensor<32xbf16>
// CHECK: nn.update(%[[P]], %[[G]] : tensor<32xf32>, tensor<32xbf16>)
// CHECK-NOT: dist.all_gather

// At stage 3 it is gathered again for the backward pass: the conversion is made again.
// THREE-LABEL: module @gathers_narrow_parameter
// THREE: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// THREE: %[[F:.*]] = dist.unpack
// THREE: nn.dot %[[F]], %[[F]]
// THREE: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// THREE: %[[B:.*]] = dist.unpack
// THREE: nn.transpose %[[B]]
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %d = nn.dot %n, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
  %t = nn.transpose %n [1, 0] : tensor<4x2xbf16> -> tensor<2x4xbf16>
  %g = nn.transpose %t [1, 0] : tensor<2x4xbf16> -> tensor<4x2xbf16>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xbf16>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %d : tensor<4x2xf32>, tensor<f32>
}
}

// -----

// A parameter that something reads as it is, here in @eval, is kept and gathered in f32. A norm reads the gradient in
// the type of the norm: each rank sums the squares of its part.
module @wide_reader_gathers_f32 {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @wide_reader_gathers_f32
// CHECK-LABEL: @step
// CHECK-SAME: tensor<64xf32> {dist.storage = #dist.storage<"parameter.0.0" [<#nn.arg<parameter "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>]>}
// CHECK: %[[G:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<2x32xbf16> -> tensor<32xbf16>
// CHECK: %[[GF:.*]] = nn.convert %[[G]] : tensor<32xbf16> -> tensor<32xf32>
// CHECK: %[[Q:.*]] = nn.mul %[[GF]], %[[GF]] : tensor<32xf32>
// CHECK: %[[R:.*]] = nn.reduce sum %[[Q]] [0]
// CHECK: dist.all_reduce sum %[[R]] on @mesh ["data"]
// CHECK: dist.all_gather %{{.*}} : tensor<32xf32> -> tensor<2x32xf32>
// THREE-LABEL: module @wide_reader_gathers_f32
// THREE: dist.all_gather %{{.*}} : tensor<32xf32> -> tensor<2x32xf32>
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %s = dist.all_reduce sum %n on @mesh ["data"] : tensor<4x2xbf16>
  %c = nn.convert %s : tensor<4x2xbf16> -> tensor<4x2xf32>
  %q = nn.mul %c, %c : tensor<4x2xf32>
  %r = nn.reduce sum %q [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %m = nn.sqrt %r : tensor<f32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xbf16>) scalars(%m : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>, %z: tensor<f32>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %x = nn.mul %f, %z : tensor<f32>
    %1 = nn.sub %p, %x : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %m : tensor<4x2xf32>, tensor<f32>
}
func.func @eval(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<output "y">}) {
  %y = nn.mul %w, %w : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
}

// -----

// In a loop over microbatches at stage 1: gathered once, before the loop, which takes bf16.
module @gathers_narrow_before_loop {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @gathers_narrow_before_loop
// CHECK: %[[W:.*]] = dist.unpack %{{.*}} at [0] : tensor<32xbf16> -> tensor<4x2xbf16>
// CHECK: dist.micro 2 "micro"(%{{.*}}, %[[W]] : tensor<2x4x2xbf16>, tensor<4x2xbf16>) operands [sliced, whole]
// CHECK-NOT: nn.convert {{.*}} : tensor<4x2xf32> -> tensor<4x2xbf16>
// THREE-LABEL: module @gathers_narrow_before_loop
// THREE: dist.micro
// THREE: dist.all_gather %{{.*}} : tensor<16xbf16> -> tensor<2x16xbf16>
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<2x4x2xbf16> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2: micro)], [(8: data)], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %l, %g = dist.micro 2 "micro" (%x, %w : tensor<2x4x2xbf16>, tensor<4x2xf32>) operands [sliced, whole] {
  ^bb0(%xm: tensor<4x2xbf16>, %wm: tensor<4x2xf32>):
    %n = nn.convert %wm : tensor<4x2xf32> -> tensor<4x2xbf16>
    %y = nn.dot %xm, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
    %d = nn.convert %xm : tensor<4x2xbf16> -> tensor<4x2xf32>
    dist.yield %y, %d : tensor<f32>, tensor<4x2xf32>
  } -> (tensor<f32>, tensor<4x2xf32>) results [summed, summed]
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %l : tensor<4x2xf32>, tensor<f32>
}
}

// -----

// Rows taken of the parameter are taken of what is gathered, where they are converted alike.
module @gathered_rows_are_narrow {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @gathered_rows_are_narrow
// CHECK: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// CHECK: %[[T:.*]] = dist.unpack %{{.*}} : tensor<64xbf16> -> tensor<4x2xbf16>
// CHECK: %[[R:.*]] = nn.gather %[[T]], %{{.*}} dim 0 : tensor<4x2xbf16>, tensor<3xi64> -> tensor<3x2xbf16>
// CHECK: nn.convert %[[R]] : tensor<3x2xbf16> -> tensor<3x2xf32>
// CHECK: nn.dot %[[T]], %[[T]]
// CHECK-NOT: dist.all_gather
// THREE-LABEL: module @gathered_rows_are_narrow
// THREE: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// THREE: nn.gather
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %i: tensor<3xi64> {nn.arg = #nn.arg<input "i">, dist.layout = #dist.layout<"[3]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">},
        tensor<3x2xf32> {nn.result = #nn.result<output "rows">}) {
  %rows = nn.gather %w, %i dim 0 : tensor<4x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  %r = nn.convert %rows : tensor<3x2xf32> -> tensor<3x2xbf16>
  %o = nn.convert %r : tensor<3x2xbf16> -> tensor<3x2xf32>
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %d = nn.dot %n, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
  %s = dist.all_reduce sum %n on @mesh ["data"] : tensor<4x2xbf16>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %d, %o : tensor<4x2xf32>, tensor<f32>, tensor<3x2xf32>
}
}

// -----

// Rows that something reads as they are need all bits of the parameter.
module @wide_rows_gather_f32 {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @wide_rows_gather_f32
// CHECK: nn.gather %{{.*}} : tensor<4x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
// CHECK: dist.all_gather %{{.*}} : tensor<32xf32> -> tensor<2x32xf32>
// THREE-LABEL: module @wide_rows_gather_f32
// THREE: dist.all_gather %{{.*}} : tensor<32xf32> -> tensor<2x32xf32>
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %i: tensor<3xi64> {nn.arg = #nn.arg<input "i">, dist.layout = #dist.layout<"[3]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">},
        tensor<3x2xf32> {nn.result = #nn.result<output "rows">}) {
  %rows = nn.gather %w, %i dim 0 : tensor<4x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %d = nn.dot %n, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
  %s = dist.all_reduce sum %n on @mesh ["data"] : tensor<4x2xbf16>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %d, %rows : tensor<4x2xf32>, tensor<f32>, tensor<3x2xf32>
}
}

// -----

// What is computed again reads the parameter behind a value of the backward pass: the narrow type is gathered for it too.
module @recomputation_reads_narrow_type {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @recomputation_reads_narrow_type
// CHECK: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// CHECK: %[[W:.*]] = dist.unpack
// CHECK: %[[A:.*]] = nn.after %[[W]], %{{.*}} : tensor<4x2xbf16>, tensor<2x4xbf16>
// CHECK-NEXT: nn.exp %[[A]] : tensor<4x2xbf16>
// CHECK-NOT: dist.all_gather
// THREE-LABEL: module @recomputation_reads_narrow_type
// THREE: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// THREE: dist.all_gather %{{.*}} : tensor<32xbf16> -> tensor<2x32xbf16>
// THREE: nn.after %{{.*}} : tensor<4x2xbf16>, tensor<2x4xbf16>
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %d = nn.dot %n, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
  %t = nn.transpose %n [1, 0] : tensor<4x2xbf16> -> tensor<2x4xbf16>
  %v = nn.after %w, %t : tensor<4x2xf32>, tensor<2x4xbf16>
  %m = nn.convert %v : tensor<4x2xf32> -> tensor<4x2xbf16>
  %g = nn.exp %m : tensor<4x2xbf16>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xbf16>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xbf16>) scalars() {
  ^bb0(%p: tensor<f32>, %e: tensor<bf16>):
    %f = nn.convert %e : tensor<bf16> -> tensor<f32>
    %1 = nn.sub %p, %f : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %d : tensor<4x2xf32>, tensor<f32>
}
}

// -----

// Weights that are not trained are cut at stage 3. Those that are only read in a narrower type are gathered so; others in
// a storage of their own, as they are.
module @gathers_frozen_weights_by_type {
dist.mesh @mesh axes ["data"] sizes [2]
// THREE-LABEL: module @gathers_frozen_weights_by_type
// THREE-LABEL: @infer
// THREE-SAME: tensor<16xf32> {dist.storage = #dist.storage<"frozen.0" [<#nn.arg<buffer "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// THREE-SAME: tensor<16xf32> {dist.storage = #dist.storage<"frozen.1" [<#nn.arg<buffer "v">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// THREE-DAG: dist.all_gather %{{.*}} : tensor<16xbf16> -> tensor<2x16xbf16>
// THREE-DAG: dist.all_gather %{{.*}} : tensor<16xf32> -> tensor<2x16xf32>
// THREE-DAG: nn.dot %{{.*}} : tensor<4x2xbf16>, tensor<4x2xbf16>
func.func @infer(%w: tensor<4x2xf32> {nn.arg = #nn.arg<buffer "w">, dist.layout = #dist.layout<"[4], [2]">},
                 %v: tensor<4x2xf32> {nn.arg = #nn.arg<buffer "v">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<f32> {nn.result = #nn.result<output "y">}, tensor<4x2xf32> {nn.result = #nn.result<output "z">}) {
  %n = nn.convert %w : tensor<4x2xf32> -> tensor<4x2xbf16>
  %d = nn.dot %n, %n contract [0, 1] [0, 1] : tensor<4x2xbf16>, tensor<4x2xbf16> -> tensor<f32>
  %z = nn.mul %v, %v : tensor<4x2xf32>
  return %d, %z : tensor<f32>, tensor<4x2xf32>
}
}
