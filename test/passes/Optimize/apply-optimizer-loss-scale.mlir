// RUN: split-file %s %t
// RUN: dpc-opt %t/step.mlir --dpc-apply-optimizer='optimizer=adam loss-scale-interval=7' | FileCheck %t/step.mlir
// RUN: dpc-opt %t/step.mlir --dpc-apply-optimizer='optimizer=lamb' | FileCheck %t/step.mlir --check-prefix=LAMB
// RUN: dpc-opt %t/step.mlir --dpc-apply-optimizer='optimizer=sgd clip-grad-norm=2' | FileCheck %t/step.mlir --check-prefix=CLIP
// RUN: dpc-opt %t/step.mlir --dpc-apply-optimizer='optimizer=adam loss-scale-interval=2' -o %t/two.mlir
// RUN: dpc-interp %t/two.mlir --data=%S/Inputs/loss-scale.npz --steps=6 --log=%t/log.jsonl --save-params=%t/after.safetensors
// RUN: FileCheck %s --check-prefix=LOG --input-file=%t/log.jsonl

// The data's gradients are finite but in the third and fourth step, of a NaN and an infinity: two good steps double the
// scale, each bad one halves it, and two more good ones double it again.
// LOG: "step": 1,{{.*}}"loss_scale": 8
// LOG: "step": 2,{{.*}}"loss_scale": 16
// LOG: "step": 3,{{.*}}"loss_scale": 8
// LOG: "step": 4,{{.*}}"loss_scale": 4
// LOG: "step": 5,{{.*}}"loss_scale": 4
// LOG: "step": 6,{{.*}}"loss_scale": 8

//--- step.mlir
// Where the gradients of a step are of a scaled loss, they are divided by the scale, and all state keeps its value if the
// norm of all of them is not finite, or the loss: parameters, moments and running statistics.
// CHECK-DAG: nn.variable @"loss_scale|good_steps" = dense<0> : tensor<i64>
// CHECK-DAG: nn.variable @"loss_scale|steps_skipped" = dense<0> : tensor<i64>
// CHECK: func.func @step(%[[W:[a-z0-9]+]]: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %[[M:[a-z0-9]+]]: tensor<2xf32> {nn.arg = #nn.arg<buffer "mean">}, %[[G:[a-z0-9]+]]: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %[[S:[a-z0-9]+]]: tensor<f32> {nn.arg = #nn.arg<optimizer "loss_scale">},
// CHECK-SAME: tensor<i64> {nn.arg = #nn.arg<optimizer "loss_scale|good_steps">}, %[[SKIPPED:[a-z0-9]+]]: tensor<i64> {nn.arg = #nn.arg<optimizer "loss_scale|steps_skipped">}
// CHECK-SAME: #nn.result<state "loss_scale">}, tensor<i64> {nn.result = #nn.result<state "loss_scale|good_steps">}, tensor<i64> {nn.result = #nn.result<state "loss_scale|steps_skipped">}, tensor<f32> {nn.result = #nn.result<metric "loss_scale">})
// CHECK: %[[LOSS:[a-z0-9]+]] = nn.constant dense<1.000000e+00> : tensor<f32>
// Adam does not count the steps that were skipped.
// CHECK: %[[DONE:[a-z0-9]+]] = nn.sub %{{[a-z0-9]+}}, %[[SKIPPED]] : tensor<i64>
// CHECK: nn.convert %[[DONE]] : tensor<i64> -> tensor<f64>
// CHECK: %[[NORM:[a-z0-9]+]] = nn.sqrt
// CHECK: %[[SIZE:[a-z0-9]+]] = nn.abs %[[LOSS]] : tensor<f32>
// CHECK: %[[INFINITY:[a-z0-9]+]] = nn.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[GIVEN:[a-z0-9]+]] = nn.compare lt %[[SIZE]], %[[INFINITY]]
// CHECK: %[[BOTH:[a-z0-9]+]] = nn.select %[[GIVEN]], %[[NORM]], %{{[a-z0-9]+}} : tensor<i1>, tensor<f32>
// CHECK: %[[INF:[a-z0-9]+]] = nn.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[FINITE:[a-z0-9]+]] = nn.compare lt %[[BOTH]], %[[INF]]
// CHECK: %[[INVERSE:[a-z0-9]+]] = nn.div %{{.*}}, %[[S]] : tensor<f32>
// CHECK: %[[KEPT:[a-z0-9]+]] = nn.broadcast %[[FINITE]] [] : tensor<i1> -> tensor<2xi1>
// CHECK: %[[MEAN:[a-z0-9]+]] = nn.select %[[KEPT]], %{{.*}}, %[[M]] : tensor<2xi1>, tensor<2xf32>
// CHECK: nn.update(%[[W]], %[[G]], %{{.*}}) scalars({{.*}}, %[[INVERSE]], %[[FINITE]] : {{.*}}, tensor<f32>, tensor<i1>)
// CHECK: ^bb0(%[[P:[a-z0-9]+]]: tensor<f32>, %{{[a-z0-9]+}}: tensor<f32>, %[[M1:[a-z0-9]+]]: tensor<f32>, %[[M2:[a-z0-9]+]]: tensor<f32>, {{.*}}, %[[OK:[a-z0-9]+]]: tensor<i1>):
// CHECK-DAG: nn.select %[[OK]], %{{.*}}, %[[P]] : tensor<i1>, tensor<f32>
// CHECK-DAG: nn.select %[[OK]], %{{.*}}, %[[M1]] : tensor<i1>, tensor<f32>
// CHECK-DAG: nn.select %[[OK]], %{{.*}}, %[[M2]] : tensor<i1>, tensor<f32>
// CHECK: nn.yield
// CHECK: nn.constant dense<7> : tensor<i64>
// CHECK: return %[[MEAN]]

// An update in two parts: the moments are chosen in the first, the parameter in the second.
// LAMB: nn.update
// LAMB-COUNT-2: nn.select %{{.*}} : tensor<i1>, tensor<f32>
// LAMB-NOT: nn.select %{{.*}} : tensor<i1>, tensor<f32>
// LAMB: nn.yield
// LAMB: nn.update
// LAMB-COUNT-1: nn.select %{{.*}} : tensor<i1>, tensor<f32>
// LAMB-NEXT: nn.yield

// The norm by which gradients are clipped, and that is shown, is that of the loss itself.
// CLIP: %[[NORM:[a-z0-9]+]] = nn.sqrt
// CLIP: %[[INVERSE:[a-z0-9]+]] = nn.div
// CLIP: %[[OWN:[a-z0-9]+]] = nn.mul %[[NORM]], %[[INVERSE]]
// CLIP: nn.add %[[OWN]], %{{.*}}
// CLIP: %[[CLIP:[a-z0-9]+]] = nn.min
// CLIP: %[[BOTH:[a-z0-9]+]] = nn.mul %[[INVERSE]], %[[CLIP]]
// CLIP: nn.update({{.*}}) scalars(%{{[a-z0-9]+}}, %[[BOTH]], %{{[a-z0-9]+}} : tensor<f32>, tensor<f32>, tensor<i1>)
// CLIP: return {{.*}}, %[[OWN]] :
module @unscales_gradients_and_keeps_state {
nn.variable @w = dense<1.0> : tensor<4xf32>
nn.variable @mean = dense<1.0> : tensor<2xf32>
nn.variable @loss_scale = dense<8.0> : tensor<f32>
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">},
                %m: tensor<2xf32> {nn.arg = #nn.arg<buffer "mean">},
                %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %s: tensor<f32> {nn.arg = #nn.arg<optimizer "loss_scale">})
    -> (tensor<2xf32> {nn.result = #nn.result<state "mean">}, tensor<4xf32> {nn.result = #nn.result<gradient "w">},
        tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %n = nn.add %m, %m : tensor<2xf32>
  %l = nn.constant dense<1.0> : tensor<f32>
  return %n, %x, %l : tensor<2xf32>, tensor<4xf32>, tensor<f32>
}
}
