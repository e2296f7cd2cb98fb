// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-assign-stages | FileCheck %s

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// Each chunk holds the parameters that its ops read. An op without a state among its sources, as
// the reshape of an input, can run on every chunk.
module @cuts_the_forward_pass attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
  // CHECK-LABEL: @cuts_the_forward_pass
  // CHECK-SAME: dist.stages = array<i64: 0, 1>
  // CHECK: @infer(%{{[^:]*}}: tensor<4x8xf32> {dist.layout
  // CHECK-SAME: dist.chunks = array<i64: 0>, {{[^}]*}}parameter "v"
  // CHECK-SAME: dist.chunks = array<i64: 1>, {{[^}]*}}parameter "w"
  func.func @infer(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                   %v: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[8], [8]">},
                   %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<2x2x8xf32> {nn.result = #nn.result<output "y">}) {
    // CHECK: nn.reshape %{{[^ ]*}} : tensor
    %s = nn.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
    %y = dist.micro 2 "micro" (%s, %v, %w : tensor<2x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) operands [sliced, whole, whole] {
    ^bb0(%xm: tensor<2x8xf32>, %vm: tensor<8x8xf32>, %wm: tensor<8x8xf32>):
      // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
      %0 = nn.dot %xm, %vm contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
      %1 = nn.dot %0, %wm contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      dist.yield %1 : tensor<2x8xf32>
    } -> (tensor<2x2x8xf32>) results [stacked]
    return %y : tensor<2x2x8xf32>
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.001}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// The gradient of a weight runs on the chunk of the weight, although the factor from the forward
// pass comes from a lower chunk: this chunk received the factor. The gradient of its input follows.
module @follows_in_the_backward_pass attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["pipe"] sizes [3]
  // CHECK-LABEL: @follows_in_the_backward_pass
  func.func @step(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                  %u: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[8], [8]">},
                  %v: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[8], [8]">},
                  %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x8xf32> {nn.result = #nn.result<state "v">}) {
    %one = nn.constant dense<1.0> : tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
    %0 = nn.dot %x, %u contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
    %1 = nn.dot %0, %v contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 2>}
    %2 = nn.dot %1, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.reduce {{.*}} {dist.chunks = array<i64: 2>}
    %loss = nn.reduce sum %2 [0, 1] : tensor<4x8xf32> -> tensor<f32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 2>}
    %g1 = nn.dot %one, %w contract [1] [1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
    %gv = nn.dot %0, %g1 contract [0] [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
    // CHECK: nn.update
    // CHECK: -> tensor<8x8xf32>
    %v1 = nn.update (%v, %gv : tensor<8x8xf32>, tensor<8x8xf32>) scalars () {
    ^bb0(%p: tensor<f32>, %g: tensor<f32>):
      %s = nn.sub %p, %g : tensor<f32>
      nn.yield %s : tensor<f32>
    } -> tensor<8x8xf32>
    return %loss, %v1 : tensor<f32>, tensor<8x8xf32>
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// A tied weight is on both chunks. A loop that adds its gradients yields them one by one, and the
// sum is one over stages.
module @yields_the_terms_of_a_tied_weight attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
  // CHECK-LABEL: @yields_the_terms_of_a_tied_weight
  // CHECK: dist.chunks = array<i64: 0, 1>, {{[^}]*}}parameter "w"
  func.func @step(%x: tensor<2x2x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[2], [2], [64]">},
                  %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [64]">})
      -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x64xf32> {nn.result = #nn.result<state "w">}) {
    // CHECK: %[[L:.*]]:3 = dist.micro
    %l:2 = dist.micro 2 "micro" (%x, %w : tensor<2x2x64xf32>, tensor<64x64xf32>) operands [sliced, whole] {
    ^bb0(%xm: tensor<2x64xf32>, %wm: tensor<64x64xf32>):
      %0 = nn.dot %xm, %wm contract [1] [0] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      %1 = nn.dot %0, %wm contract [1] [0] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      %e = nn.exp %1 : tensor<2x64xf32>
      %loss = nn.reduce sum %e [0, 1] : tensor<2x64xf32> -> tensor<f32>
      %g0 = nn.dot %e, %wm contract [1] [1] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      // CHECK: %[[B:.*]] = nn.dot {{.*}} contract [0] [0] {dist.chunks = array<i64: 1>}
      %b = nn.dot %0, %e contract [0] [0] : tensor<2x64xf32>, tensor<2x64xf32> -> tensor<64x64xf32>
      // CHECK: %[[A:.*]] = nn.dot {{.*}} contract [0] [0] {dist.chunks = array<i64: 0>}
      %a = nn.dot %xm, %g0 contract [0] [0] : tensor<2x64xf32>, tensor<2x64xf32> -> tensor<64x64xf32>
      %g = nn.add %b, %a : tensor<64x64xf32>
      // CHECK: dist.yield %{{.*}}, %[[A]], %[[B]]
      dist.yield %loss, %g : tensor<f32>, tensor<64x64xf32>
    } -> (tensor<f32>, tensor<64x64xf32>) results [summed, summed]
    // CHECK: %[[G:.*]] = dist.combine_stages %[[L]]#1, %[[L]]#2 : tensor<64x64xf32>
    // CHECK: nn.update(%{{.*}}, %[[G]]
    %w1 = nn.update (%w, %l#1 : tensor<64x64xf32>, tensor<64x64xf32>) scalars () {
    ^bb0(%p: tensor<f32>, %g: tensor<f32>):
      %s = nn.sub %p, %g : tensor<f32>
      nn.yield %s : tensor<f32>
    } -> tensor<64x64xf32>
    return %l#0, %w1 : tensor<f32>, tensor<64x64xf32>
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
module @refuses_more_chunks_than_ops attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // expected-error @+1 {{pipe=2: a forward pass of 1 ops cannot be cut into 2 chunks}}
  func.func @infer(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                   %v: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<4x8xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.dot %x, %v contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

// A program without the axis `pipe` has no stages.
module @leaves_other_programs {
  dist.mesh @mesh axes ["data"] sizes [2]
  // CHECK-LABEL: @leaves_other_programs
  // CHECK-NOT: dist.chunks
  func.func @infer(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">}) -> (tensor<4x8xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// The moment of a tied weight is on both chunks too, so that both update the weight.
module @holds_slots_of_a_tied_weight attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
  // CHECK-LABEL: @holds_slots_of_a_tied_weight
  // CHECK: dist.chunks = array<i64: 0, 1>, {{[^}]*}}parameter "w"
  // CHECK-SAME: dist.chunks = array<i64: 0, 1>, {{[^}]*}}optimizer "m|w"
  func.func @step(%x: tensor<2x2x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[2], [2], [64]">},
                  %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [64]">},
                  %m: tensor<64x64xf32> {nn.arg = #nn.arg<optimizer "m|w">, dist.layout = #dist.layout<"[64], [64]">})
      -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x64xf32> {nn.result = #nn.result<state "w">},
          tensor<64x64xf32> {nn.result = #nn.result<state "m|w">}) {
    %l:2 = dist.micro 2 "micro" (%x, %w : tensor<2x2x64xf32>, tensor<64x64xf32>) operands [sliced, whole] {
    ^bb0(%xm: tensor<2x64xf32>, %wm: tensor<64x64xf32>):
      %0 = nn.dot %xm, %wm contract [1] [0] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      %1 = nn.dot %0, %wm contract [1] [0] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      %e = nn.exp %1 : tensor<2x64xf32>
      %loss = nn.reduce sum %e [0, 1] : tensor<2x64xf32> -> tensor<f32>
      %g0 = nn.dot %e, %wm contract [1] [1] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
      %b = nn.dot %0, %e contract [0] [0] : tensor<2x64xf32>, tensor<2x64xf32> -> tensor<64x64xf32>
      %a = nn.dot %xm, %g0 contract [0] [0] : tensor<2x64xf32>, tensor<2x64xf32> -> tensor<64x64xf32>
      %g = nn.add %b, %a : tensor<64x64xf32>
      dist.yield %loss, %g : tensor<f32>, tensor<64x64xf32>
    } -> (tensor<f32>, tensor<64x64xf32>) results [summed, summed]
    // CHECK: dist.combine_stages
    // CHECK: nn.update{{.*}}dist.chunks = array<i64: 0, 1>
    %w1:2 = nn.update (%w, %l#1, %m : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) scalars () {
    ^bb0(%p: tensor<f32>, %g: tensor<f32>, %o: tensor<f32>):
      %n = nn.add %o, %g : tensor<f32>
      %s = nn.sub %p, %n : tensor<f32>
      nn.yield %s, %n : tensor<f32>, tensor<f32>
    } -> tensor<64x64xf32>, tensor<64x64xf32>
    return %l#0, %w1#0, %w1#1 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3000, start_us = 5}]}>
// The chunk of a trained parameter adds its gradient to a sum in each microbatch. This takes as long
// as a product here, so the other two products are the second chunk.
module @counts_sums_of_gradients attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
  // CHECK-LABEL: @counts_sums_of_gradients
  func.func @step(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                  %u: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[8], [8]">},
                  %v: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[8], [8]">},
                  %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x8xf32> {nn.result = #nn.result<state "u">}) {
    %s = nn.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
    %r:2 = dist.micro 2 "micro" (%s, %u, %v, %w : tensor<2x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) operands [sliced, whole, whole, whole] {
    ^bb0(%xm: tensor<2x8xf32>, %um: tensor<8x8xf32>, %vm: tensor<8x8xf32>, %wm: tensor<8x8xf32>):
      // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
      %0 = nn.dot %xm, %um contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      // CHECK-NEXT: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
      %1 = nn.dot %0, %vm contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
      %2 = nn.dot %1, %wm contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      %sq = nn.mul %2, %2 : tensor<2x8xf32>
      %loss = nn.reduce sum %sq [0, 1] : tensor<2x8xf32> -> tensor<f32>
      %g3 = nn.add %2, %2 : tensor<2x8xf32>
      %g2 = nn.dot %g3, %wm contract [1] [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      %g1 = nn.dot %g2, %vm contract [1] [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
      %gu = nn.dot %xm, %g1 contract [0] [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
      dist.yield %loss, %gu : tensor<f32>, tensor<8x8xf32>
    } -> (tensor<f32>, tensor<8x8xf32>) results [summed, summed]
    return %r#0, %r#1 : tensor<f32>, tensor<8x8xf32>
  }
}
