// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-order-computation | FileCheck %s

// A term of a norm, made of what ranks have summed, does not wait for the rest of the backward pass, behind which it
// stands: what the sum is of would stay until then.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @norm_term_runs_early
// CHECK: %[[S:.*]] = dist.reduce_scatter sum
// CHECK: nn.kernel(%{{.*}} : tensor<512x512xf32>)
// CHECK: nn.kernel(%[[S]] : tensor<512xf32>)
// CHECK: nn.kernel(%{{.*}} : tensor<512x512xf32>)
// CHECK: nn.kernel(%{{.*}}, %{{.*}} : tensor<f32>, tensor<512x512xf32>)
func.func @norm_term_runs_early(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %g = nn.kernel(%a : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.reduce sum %p [0] : tensor<512x512xf32> -> tensor<512xf32>
    %1 = nn.broadcast %0 [1] : tensor<512xf32> -> tensor<2x512xf32>
    nn.yield %1 : tensor<2x512xf32>
  } -> tensor<2x512xf32>
  %s = dist.reduce_scatter sum %g on @mesh ["data"] : tensor<2x512xf32> -> tensor<512xf32>
  %h = nn.kernel(%a : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.dot %p, %p contract [1] [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    nn.yield %0 : tensor<512x512xf32>
  } -> tensor<512x512xf32>
  %k = nn.kernel(%h : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.dot %p, %p contract [1] [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    nn.yield %0 : tensor<512x512xf32>
  } -> tensor<512x512xf32>
  %t = nn.kernel(%s : tensor<512xf32>) {
  ^bb0(%p: tensor<512xf32>):
    %0 = nn.mul %p, %p : tensor<512xf32>
    %1 = nn.reduce sum %0 [0] : tensor<512xf32> -> tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<f32>
  %u = nn.kernel(%t, %k : tensor<f32>, tensor<512x512xf32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<512x512xf32>):
    %0 = nn.broadcast %p [] : tensor<f32> -> tensor<512x512xf32>
    %1 = nn.mul %0, %q : tensor<512x512xf32>
    nn.yield %1 : tensor<512x512xf32>
  } -> tensor<512x512xf32>
  return %u : tensor<512x512xf32>
}

// -----

// What is no number keeps its place.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @tensor_keeps_its_place
// CHECK: %[[S:.*]] = dist.reduce_scatter sum
// CHECK: nn.kernel(%{{.*}} : tensor<512x512xf32>)
// CHECK: nn.kernel(%{{.*}} : tensor<512x512xf32>)
// CHECK: nn.kernel(%[[S]] : tensor<512xf32>)
func.func @tensor_keeps_its_place(%a: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %g = nn.kernel(%a : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.reduce sum %p [0] : tensor<512x512xf32> -> tensor<512xf32>
    %1 = nn.broadcast %0 [1] : tensor<512xf32> -> tensor<2x512xf32>
    nn.yield %1 : tensor<2x512xf32>
  } -> tensor<2x512xf32>
  %s = dist.reduce_scatter sum %g on @mesh ["data"] : tensor<2x512xf32> -> tensor<512xf32>
  %h = nn.kernel(%a : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.dot %p, %p contract [1] [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    nn.yield %0 : tensor<512x512xf32>
  } -> tensor<512x512xf32>
  %k = nn.kernel(%h : tensor<512x512xf32>) {
  ^bb0(%p: tensor<512x512xf32>):
    %0 = nn.dot %p, %p contract [1] [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    nn.yield %0 : tensor<512x512xf32>
  } -> tensor<512x512xf32>
  %t = nn.kernel(%s : tensor<512xf32>) {
  ^bb0(%p: tensor<512xf32>):
    %0 = nn.exp %p : tensor<512xf32>
    nn.yield %0 : tensor<512xf32>
  } -> tensor<512xf32>
  %u = nn.kernel(%t : tensor<512xf32>) {
  ^bb0(%p: tensor<512xf32>):
    %0 = nn.tanh %p : tensor<512xf32>
    nn.yield %0 : tensor<512xf32>
  } -> tensor<512xf32>
  return %k, %u : tensor<512x512xf32>, tensor<512xf32>
}
