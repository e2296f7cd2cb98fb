// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-order-computation | FileCheck %s

// Updates come where they wait least: that of the large gradient, which stands
// first, while its collective is under way the small one's result is used.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @updates_wait_least
// CHECK: dist.all_reduce max %{{.*}} : tensor<4xf32>
// CHECK: dist.all_reduce sum %{{.*}} : tensor<1048576xf32>
// CHECK: nn.update({{.*}} : tensor<4xf32>, tensor<4xf32>)
// CHECK: nn.update({{.*}} : tensor<1048576xf32>, tensor<1048576xf32>)
func.func @updates_wait_least(%a: tensor<1048576xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<1048576xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %g = nn.kernel(%b : tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %0 = nn.exp %p : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce max %g on @mesh ["data"] : tensor<4xf32>
  %h = nn.kernel(%a : tensor<1048576xf32>) {
  ^bb0(%p: tensor<1048576xf32>):
    %0 = nn.exp %p : tensor<1048576xf32>
    nn.yield %0 : tensor<1048576xf32>
  } -> tensor<1048576xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<1048576xf32>
  %n = nn.update(%a, %t : tensor<1048576xf32>, tensor<1048576xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %0 = nn.sub %p, %q : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<1048576xf32>
  %m = nn.update(%b, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %0 = nn.sub %p, %q : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<4xf32>
  return %n, %m : tensor<1048576xf32>, tensor<4xf32>
}

// -----
// What does not need a sum is computed while it is under way; what other ops use
// keeps its order.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @computes_during_sum
// CHECK: %[[G:.*]] = nn.kernel(%{{.*}} : tensor<1048576xf32>)
// CHECK: dist.all_reduce sum %[[G]]
// CHECK: nn.kernel(%{{.*}} : tensor<4xf32>)
// CHECK: nn.kernel(%{{.*}} : tensor<4xf32>)
// CHECK: nn.update
func.func @computes_during_sum(%a: tensor<1048576xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<1048576xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  %h = nn.kernel(%a : tensor<1048576xf32>) {
  ^bb0(%p: tensor<1048576xf32>):
    %0 = nn.exp %p : tensor<1048576xf32>
    nn.yield %0 : tensor<1048576xf32>
  } -> tensor<1048576xf32>
  %t = dist.all_reduce sum %h on @mesh ["data"] : tensor<1048576xf32>
  %n = nn.update(%a, %t : tensor<1048576xf32>, tensor<1048576xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %0 = nn.sub %p, %q : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<1048576xf32>
  %g = nn.kernel(%b : tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %0 = nn.exp %p : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %i = nn.kernel(%g : tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %0 = nn.exp %p : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  return %n, %i : tensor<1048576xf32>, tensor<4xf32>
}

// -----
// The new value of a state comes after those who read the old one, through a view
// too: its update waits for the kernel, though that waits for the sum.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @update_follows_state_readers
// CHECK: dist.all_reduce
// CHECK: nn.kernel(%{{.*}}, %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: nn.update
// CHECK: return
func.func @update_follows_state_readers(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %g: tensor<4xf32> {nn.arg = #nn.arg<input "g">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<output "s">}, tensor<2x2xf32> {nn.result = #nn.result<output "y">}) {
  %h = nn.kernel(%g : tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %0 = nn.exp %p : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %s = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  %v = nn.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
  %w = nn.reshape %s : tensor<4xf32> -> tensor<2x2xf32>
  %y = nn.kernel(%v, %w : tensor<2x2xf32>, tensor<2x2xf32>) {
  ^bb0(%c: tensor<2x2xf32>, %d: tensor<2x2xf32>):
    %0 = nn.add %c, %d : tensor<2x2xf32>
    nn.yield %0 : tensor<2x2xf32>
  } -> tensor<2x2xf32>
  %n = nn.update(%a, %g : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %0 = nn.sub %p, %q : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<4xf32>
  return %n, %s, %y : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}

// -----
// Where nothing is exchanged an update comes right after its gradient, whose
// memory is free from then on, and after all who read the old value; what the
// host's rate becomes comes first.
// CHECK-LABEL: @update_follows_its_gradient
// CHECK: %[[RATE:.*]] = nn.kernel(%{{.*}} : tensor<f64>)
// CHECK: %[[G:.*]] = nn.kernel(%arg0
// CHECK: nn.update(%arg0, %[[G]] : {{.*}}) scalars(%[[RATE]]
// CHECK: %[[H:.*]] = nn.kernel(%[[G]]
// CHECK: nn.update(%arg1, %[[H]] : {{.*}}) scalars(%[[RATE]]
func.func @update_follows_its_gradient(%a: tensor<8xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<8xf32> {nn.arg = #nn.arg<parameter "b">},
    %lr: tensor<f64> {nn.arg = #nn.arg<control "learning_rate">})
    -> (tensor<8xf32> {nn.result = #nn.result<state "a">}, tensor<8xf32> {nn.result = #nn.result<state "b">}) {
  %g = nn.kernel(%a : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %0 = nn.exp %p : tensor<8xf32>
    nn.yield %0 : tensor<8xf32>
  } -> tensor<8xf32>
  %h = nn.kernel(%g : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %0 = nn.exp %p : tensor<8xf32>
    nn.yield %0 : tensor<8xf32>
  } -> tensor<8xf32>
  %rate = nn.kernel(%lr : tensor<f64>) {
  ^bb0(%p: tensor<f64>):
    %0 = nn.convert %p : tensor<f64> -> tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<f32>
  %n = nn.update(%b, %h : tensor<8xf32>, tensor<8xf32>) scalars(%rate : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>):
    %0 = nn.mul %q, %r : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<8xf32>
  %m = nn.update(%a, %g : tensor<8xf32>, tensor<8xf32>) scalars(%rate : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>):
    %0 = nn.mul %q, %r : tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<8xf32>
  return %m, %n : tensor<8xf32>, tensor<8xf32>
}
