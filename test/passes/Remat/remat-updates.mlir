// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-remat=explain --mlir-print-op-on-diagnostic=false -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine '--dpc-remat=explain divides divided-axes=data' --mlir-print-op-on-diagnostic=false -o %t 2>&1 | FileCheck %s --check-prefixes=CHECK,PARTS

// Gradients are larger than activations. An update runs when its gradient is there, though it stands at the end, so
// that the forward pass keeps the most: some of it is computed again.
// CHECK: remark: keeps {{[0-9]+ bytes.*}} of the forward pass, in {{[0-9]+}} segments, and computes {{[1-9]}} of 14 ops again: {{[1-9][0-9]* bytes.*}} fewer
module @early_updates_free_gradients {
func.func @step(%w0: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w0">, dist.layout = #dist.layout<"[64], [64]">}, %w1: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w1">, dist.layout = #dist.layout<"[64], [64]">}, %w2: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w2">, dist.layout = #dist.layout<"[64], [64]">}, %w3: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w3">, dist.layout = #dist.layout<"[64], [64]">}, %w4: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w4">, dist.layout = #dist.layout<"[64], [64]">}, %w5: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w5">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x64xf32> {nn.result = #nn.result<state "w0">}, tensor<64x64xf32> {nn.result = #nn.result<state "w1">}, tensor<64x64xf32> {nn.result = #nn.result<state "w2">}, tensor<64x64xf32> {nn.result = #nn.result<state "w3">}, tensor<64x64xf32> {nn.result = #nn.result<state "w4">}, tensor<64x64xf32> {nn.result = #nn.result<state "w5">}) {
  %h0 = nn.constant dense<2.0> : tensor<8x64xf32>
  %x0 = nn.dot %h0, %w0 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h1 = nn.tanh %x0 : tensor<8x64xf32>
  %x1 = nn.dot %h1, %w1 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h2 = nn.tanh %x1 : tensor<8x64xf32>
  %x2 = nn.dot %h2, %w2 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h3 = nn.tanh %x2 : tensor<8x64xf32>
  %x3 = nn.dot %h3, %w3 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h4 = nn.tanh %x3 : tensor<8x64xf32>
  %x4 = nn.dot %h4, %w4 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h5 = nn.tanh %x4 : tensor<8x64xf32>
  %x5 = nn.dot %h5, %w5 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h6 = nn.tanh %x5 : tensor<8x64xf32>
  %loss = nn.reduce sum %h6 [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %d6 = nn.mul %h6, %h6 : tensor<8x64xf32>
  %e5 = nn.mul %d6, %h6 : tensor<8x64xf32>
  %d5 = nn.dot %e5, %w5 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p5 = nn.dot %h5, %e5 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e4 = nn.mul %d5, %h5 : tensor<8x64xf32>
  %d4 = nn.dot %e4, %w4 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p4 = nn.dot %h4, %e4 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e3 = nn.mul %d4, %h4 : tensor<8x64xf32>
  %d3 = nn.dot %e3, %w3 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p3 = nn.dot %h3, %e3 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e2 = nn.mul %d3, %h3 : tensor<8x64xf32>
  %d2 = nn.dot %e2, %w2 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p2 = nn.dot %h2, %e2 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e1 = nn.mul %d2, %h2 : tensor<8x64xf32>
  %d1 = nn.dot %e1, %w1 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p1 = nn.dot %h1, %e1 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e0 = nn.mul %d1, %h1 : tensor<8x64xf32>
  %p0 = nn.dot %h0, %e0 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %u0 = nn.update(%w0, %p0 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u1 = nn.update(%w1, %p1 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u2 = nn.update(%w2, %p2 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u3 = nn.update(%w3, %p3 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u4 = nn.update(%w4, %p4 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u5 = nn.update(%w5, %p5 : tensor<64x64xf32>, tensor<64x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  return %loss, %u0, %u1, %u2, %u3, %u4, %u5 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// A norm of all gradients keeps them all to the end: then the forward pass has nothing that matters.
// CHECK-NOT: remark
module @norm_keeps_gradients_to_end {
func.func @step(%w0: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w0">, dist.layout = #dist.layout<"[64], [64]">}, %w1: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w1">, dist.layout = #dist.layout<"[64], [64]">}, %w2: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w2">, dist.layout = #dist.layout<"[64], [64]">}, %w3: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w3">, dist.layout = #dist.layout<"[64], [64]">}, %w4: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w4">, dist.layout = #dist.layout<"[64], [64]">}, %w5: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w5">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x64xf32> {nn.result = #nn.result<state "w0">}, tensor<64x64xf32> {nn.result = #nn.result<state "w1">}, tensor<64x64xf32> {nn.result = #nn.result<state "w2">}, tensor<64x64xf32> {nn.result = #nn.result<state "w3">}, tensor<64x64xf32> {nn.result = #nn.result<state "w4">}, tensor<64x64xf32> {nn.result = #nn.result<state "w5">}) {
  %h0 = nn.constant dense<2.0> : tensor<8x64xf32>
  %x0 = nn.dot %h0, %w0 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h1 = nn.tanh %x0 : tensor<8x64xf32>
  %x1 = nn.dot %h1, %w1 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h2 = nn.tanh %x1 : tensor<8x64xf32>
  %x2 = nn.dot %h2, %w2 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h3 = nn.tanh %x2 : tensor<8x64xf32>
  %x3 = nn.dot %h3, %w3 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h4 = nn.tanh %x3 : tensor<8x64xf32>
  %x4 = nn.dot %h4, %w4 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h5 = nn.tanh %x4 : tensor<8x64xf32>
  %x5 = nn.dot %h5, %w5 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h6 = nn.tanh %x5 : tensor<8x64xf32>
  %loss = nn.reduce sum %h6 [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %d6 = nn.mul %h6, %h6 : tensor<8x64xf32>
  %e5 = nn.mul %d6, %h6 : tensor<8x64xf32>
  %d5 = nn.dot %e5, %w5 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p5 = nn.dot %h5, %e5 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e4 = nn.mul %d5, %h5 : tensor<8x64xf32>
  %d4 = nn.dot %e4, %w4 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p4 = nn.dot %h4, %e4 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e3 = nn.mul %d4, %h4 : tensor<8x64xf32>
  %d3 = nn.dot %e3, %w3 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p3 = nn.dot %h3, %e3 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e2 = nn.mul %d3, %h3 : tensor<8x64xf32>
  %d2 = nn.dot %e2, %w2 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p2 = nn.dot %h2, %e2 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e1 = nn.mul %d2, %h2 : tensor<8x64xf32>
  %d1 = nn.dot %e1, %w1 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p1 = nn.dot %h1, %e1 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e0 = nn.mul %d1, %h1 : tensor<8x64xf32>
  %p0 = nn.dot %h0, %e0 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %q0 = nn.mul %p0, %p0 : tensor<64x64xf32>
  %s0 = nn.reduce sum %q0 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q1 = nn.mul %p1, %p1 : tensor<64x64xf32>
  %s1 = nn.reduce sum %q1 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q2 = nn.mul %p2, %p2 : tensor<64x64xf32>
  %s2 = nn.reduce sum %q2 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q3 = nn.mul %p3, %p3 : tensor<64x64xf32>
  %s3 = nn.reduce sum %q3 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q4 = nn.mul %p4, %p4 : tensor<64x64xf32>
  %s4 = nn.reduce sum %q4 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q5 = nn.mul %p5, %p5 : tensor<64x64xf32>
  %s5 = nn.reduce sum %q5 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %n1 = nn.add %s0, %s1 : tensor<f32>
  %n2 = nn.add %n1, %s2 : tensor<f32>
  %n3 = nn.add %n2, %s3 : tensor<f32>
  %n4 = nn.add %n3, %s4 : tensor<f32>
  %n5 = nn.add %n4, %s5 : tensor<f32>
  %norm = nn.rsqrt %n5 : tensor<f32>
  %u0 = nn.update(%w0, %p0 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u1 = nn.update(%w1, %p1 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u2 = nn.update(%w2, %p2 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u3 = nn.update(%w3, %p3 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u4 = nn.update(%w4, %p4 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u5 = nn.update(%w5, %p5 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  return %loss, %u0, %u1, %u2, %u3, %u4, %u5 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// The same of gradients that ranks sum: they keep their parts, if they are to be divided.
// WHOLE-NOT: remark
// PARTS: remark: keeps {{[0-9]+ bytes.*}} of the forward pass, in {{[0-9]+}} segments, and computes {{[1-9]}} of 14 ops again: {{[1-9][0-9]* bytes.*}} fewer
module @divided_gradients_keep_parts {
dist.mesh @mesh axes ["data"] sizes [64]
func.func @step(%w0: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w0">, dist.layout = #dist.layout<"[64], [64]">}, %w1: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w1">, dist.layout = #dist.layout<"[64], [64]">}, %w2: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w2">, dist.layout = #dist.layout<"[64], [64]">}, %w3: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w3">, dist.layout = #dist.layout<"[64], [64]">}, %w4: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w4">, dist.layout = #dist.layout<"[64], [64]">}, %w5: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w5">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x64xf32> {nn.result = #nn.result<state "w0">}, tensor<64x64xf32> {nn.result = #nn.result<state "w1">}, tensor<64x64xf32> {nn.result = #nn.result<state "w2">}, tensor<64x64xf32> {nn.result = #nn.result<state "w3">}, tensor<64x64xf32> {nn.result = #nn.result<state "w4">}, tensor<64x64xf32> {nn.result = #nn.result<state "w5">}) {
  %h0 = nn.constant dense<2.0> : tensor<8x64xf32>
  %x0 = nn.dot %h0, %w0 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h1 = nn.tanh %x0 : tensor<8x64xf32>
  %x1 = nn.dot %h1, %w1 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h2 = nn.tanh %x1 : tensor<8x64xf32>
  %x2 = nn.dot %h2, %w2 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h3 = nn.tanh %x2 : tensor<8x64xf32>
  %x3 = nn.dot %h3, %w3 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h4 = nn.tanh %x3 : tensor<8x64xf32>
  %x4 = nn.dot %h4, %w4 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h5 = nn.tanh %x4 : tensor<8x64xf32>
  %x5 = nn.dot %h5, %w5 contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %h6 = nn.tanh %x5 : tensor<8x64xf32>
  %loss = nn.reduce sum %h6 [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %d6 = nn.mul %h6, %h6 : tensor<8x64xf32>
  %e5 = nn.mul %d6, %h6 : tensor<8x64xf32>
  %d5 = nn.dot %e5, %w5 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p5 = nn.dot %h5, %e5 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e4 = nn.mul %d5, %h5 : tensor<8x64xf32>
  %d4 = nn.dot %e4, %w4 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p4 = nn.dot %h4, %e4 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e3 = nn.mul %d4, %h4 : tensor<8x64xf32>
  %d3 = nn.dot %e3, %w3 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p3 = nn.dot %h3, %e3 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e2 = nn.mul %d3, %h3 : tensor<8x64xf32>
  %d2 = nn.dot %e2, %w2 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p2 = nn.dot %h2, %e2 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e1 = nn.mul %d2, %h2 : tensor<8x64xf32>
  %d1 = nn.dot %e1, %w1 contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %p1 = nn.dot %h1, %e1 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %e0 = nn.mul %d1, %h1 : tensor<8x64xf32>
  %p0 = nn.dot %h0, %e0 contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %g0 = dist.all_reduce sum %p0 on @mesh ["data"] : tensor<64x64xf32>
  %g1 = dist.all_reduce sum %p1 on @mesh ["data"] : tensor<64x64xf32>
  %g2 = dist.all_reduce sum %p2 on @mesh ["data"] : tensor<64x64xf32>
  %g3 = dist.all_reduce sum %p3 on @mesh ["data"] : tensor<64x64xf32>
  %g4 = dist.all_reduce sum %p4 on @mesh ["data"] : tensor<64x64xf32>
  %g5 = dist.all_reduce sum %p5 on @mesh ["data"] : tensor<64x64xf32>
  %q0 = nn.mul %g0, %g0 : tensor<64x64xf32>
  %s0 = nn.reduce sum %q0 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q1 = nn.mul %g1, %g1 : tensor<64x64xf32>
  %s1 = nn.reduce sum %q1 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q2 = nn.mul %g2, %g2 : tensor<64x64xf32>
  %s2 = nn.reduce sum %q2 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q3 = nn.mul %g3, %g3 : tensor<64x64xf32>
  %s3 = nn.reduce sum %q3 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q4 = nn.mul %g4, %g4 : tensor<64x64xf32>
  %s4 = nn.reduce sum %q4 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %q5 = nn.mul %g5, %g5 : tensor<64x64xf32>
  %s5 = nn.reduce sum %q5 [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %n1 = nn.add %s0, %s1 : tensor<f32>
  %n2 = nn.add %n1, %s2 : tensor<f32>
  %n3 = nn.add %n2, %s3 : tensor<f32>
  %n4 = nn.add %n3, %s4 : tensor<f32>
  %n5 = nn.add %n4, %s5 : tensor<f32>
  %norm = nn.rsqrt %n5 : tensor<f32>
  %u0 = nn.update(%w0, %g0 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u1 = nn.update(%w1, %g1 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u2 = nn.update(%w2, %g2 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u3 = nn.update(%w3, %g3 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u4 = nn.update(%w4, %g4 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  %u5 = nn.update(%w5, %g5 : tensor<64x64xf32>, tensor<64x64xf32>) scalars(%norm : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %t, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x64xf32>
  return %loss, %u0, %u1, %u2, %u3, %u4, %u5 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
}
