// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=1 axes=data" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=3 axes=replica,data" | FileCheck %s --check-prefix=BOTH

// An update that goes on in a second one, by a number of its own that is made of a norm of
// the whole tensor (as LAMB's): both are divided, and the norms of all members are
// one small sum over ranks.
module @divides_update_with_own_norm {
dist.mesh @mesh axes ["replica", "data"] sizes [2, 2]
// CHECK-LABEL: module @divides_update_with_own_norm
// CHECK-DAG: %[[I:.*]] = dist.axis_index "data"
// CHECK-DAG: %[[U:.*]]:2 = nn.update(%{{.*}} : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
// CHECK: %[[Q:.*]] = nn.mul %[[U]]#0, %[[U]]#0 : tensor<16xf32>
// CHECK: %[[S:.*]] = nn.segment_sum %[[Q]], %[[B:.*]], %[[E:.*]] : tensor<16xf32>, tensor<2xi64> -> tensor<2xf32>
// CHECK: %[[A:.*]] = dist.all_reduce sum %[[S]] on @mesh ["data"] : tensor<2xf32>
// CHECK: %[[N:.*]]:2 = dist.unpack %[[A]] at [0, 1]
// CHECK-DAG: %[[R0:.*]] = nn.sqrt %[[N]]#0
// CHECK-DAG: %[[R1:.*]] = nn.sqrt %[[N]]#1
// CHECK: %[[P:.*]] = dist.pack %[[R0]], %[[R1]] at [0, 1]
// CHECK: %[[F:.*]] = nn.segment_fill %[[P]], %[[B]], %[[E]] : tensor<2xf32>, tensor<2xi64> -> tensor<16xf32>
// CHECK: nn.update(%{{.*}}, %[[U]]#0, %[[F]] : {{.*}}) scalars(%[[RATE:.*]] : tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[W:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>, %[[OWN:.*]]: tensor<f32>, %[[ALL:.*]]: tensor<f32>):
// CHECK-NEXT: %[[X:.*]] = nn.mul %[[D]], %[[OWN]]
// CHECK-NEXT: %[[Y:.*]] = nn.mul %[[X]], %[[ALL]]
// CHECK-NEXT: nn.sub %[[W]], %[[Y]]
// CHECK-NOT: nn.update
// The number of a rank among those of two axes counts row-major.
// BOTH-LABEL: module @divides_update_with_own_norm
// BOTH-DAG: %[[R:.*]] = dist.axis_index "replica"
// BOTH-DAG: %[[D:.*]] = dist.axis_index "data"
// BOTH-DAG: %[[M:.*]] = nn.mul %[[R]], %{{.*}} : tensor<i64>
// BOTH-DAG: nn.add %[[M]], %[[D]] : tensor<i64>
// BOTH: nn.segment_sum {{.*}} : tensor<16xf32>
// BOTH: nn.segment_fill
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4]">},
                %wm: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|w">, dist.layout = #dist.layout<"[4]">},
                %v: tensor<3x5xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[3], [5]">},
                %vm: tensor<3x5xf32> {nn.arg = #nn.arg<optimizer "m|v">, dist.layout = #dist.layout<"[3], [5]">},
                %g: tensor<4xf32> {nn.arg = #nn.arg<input "g">, dist.layout = #dist.layout<"[4]">},
                %h: tensor<3x5xf32> {nn.arg = #nn.arg<input "h">, dist.layout = #dist.layout<"[3], [5]">},
                %rate: tensor<f32> {nn.arg = #nn.arg<control "lr">, dist.layout = #dist.layout<"scalar">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}, tensor<4xf32> {nn.result = #nn.result<state "m|w">},
        tensor<3x5xf32> {nn.result = #nn.result<state "v">}, tensor<3x5xf32> {nn.result = #nn.result<state "m|v">}) {
  %gp = nn.exp %g : tensor<4xf32>
  %hp = nn.exp %h : tensor<3x5xf32>
  %gs = dist.all_reduce sum %gp on @mesh ["replica", "data"] : tensor<4xf32>
  %hs = dist.all_reduce sum %hp on @mesh ["replica", "data"] : tensor<3x5xf32>
  %d:2 = nn.update(%w, %gs, %wm : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %m: tensor<f32>):
    %1 = nn.add %q, %m : tensor<f32>
    %2 = nn.add %1, %p : tensor<f32>
    nn.yield %2, %1 : tensor<f32>, tensor<f32>
  } -> tensor<4xf32>, tensor<4xf32>
  %dd = nn.mul %d#0, %d#0 : tensor<4xf32>
  %n = nn.reduce sum %dd [0] : tensor<4xf32> -> tensor<f32>
  %r = nn.sqrt %n : tensor<f32>
  %w1 = nn.update(%w, %d#0 : tensor<4xf32>, tensor<4xf32>) scalars(%r, %rate : tensor<f32>, tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %own: tensor<f32>, %all: tensor<f32>):
    %1 = nn.mul %q, %own : tensor<f32>
    %2 = nn.mul %1, %all : tensor<f32>
    %3 = nn.sub %p, %2 : tensor<f32>
    nn.yield %3 : tensor<f32>
  } -> tensor<4xf32>
  %f:2 = nn.update(%v, %hs, %vm : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %m: tensor<f32>):
    %1 = nn.add %q, %m : tensor<f32>
    %2 = nn.add %1, %p : tensor<f32>
    nn.yield %2, %1 : tensor<f32>, tensor<f32>
  } -> tensor<3x5xf32>, tensor<3x5xf32>
  %ff = nn.mul %f#0, %f#0 : tensor<3x5xf32>
  %o = nn.reduce sum %ff [0, 1] : tensor<3x5xf32> -> tensor<f32>
  %s = nn.sqrt %o : tensor<f32>
  %v1 = nn.update(%v, %f#0 : tensor<3x5xf32>, tensor<3x5xf32>) scalars(%s, %rate : tensor<f32>, tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %own: tensor<f32>, %all: tensor<f32>):
    %1 = nn.mul %q, %own : tensor<f32>
    %2 = nn.mul %1, %all : tensor<f32>
    %3 = nn.sub %p, %2 : tensor<f32>
    nn.yield %3 : tensor<f32>
  } -> tensor<3x5xf32>
  return %w1, %d#1, %v1, %f#1 : tensor<4xf32>, tensor<4xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}
}

// -----

// Whoever else reads what goes from one update to the other needs it whole: nothing is
// divided.
module @other_reader_keeps_updates_whole {
dist.mesh @mesh axes ["replica", "data"] sizes [2, 2]
// CHECK-LABEL: module @other_reader_keeps_updates_whole
// CHECK-NOT: dist.storage
// CHECK-NOT: nn.segment_sum
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4]">},
                %g: tensor<4xf32> {nn.arg = #nn.arg<input "g">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<output "seen">}, tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %d = nn.update(%w, %g : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = nn.add %q, %p : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %seen = nn.exp %d : tensor<4xf32>
  %n = nn.reduce sum %seen [0] : tensor<4xf32> -> tensor<f32>
  %w1 = nn.update(%w, %d, %seen : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>, %own: tensor<f32>):
    %1 = nn.mul %q, %own : tensor<f32>
    %2 = nn.add %1, %t : tensor<f32>
    %3 = nn.sub %p, %2 : tensor<f32>
    nn.yield %3 : tensor<f32>
  } -> tensor<4xf32>
  return %seen, %w1 : tensor<4xf32>, tensor<4xf32>
}
}
