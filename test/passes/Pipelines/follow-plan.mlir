// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-follow-plan=level=placed | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-placed-pipeline --dpc-local-pipeline --dpc-ordered-pipeline --dpc-scheduled-pipeline | FileCheck %s --check-prefix=SCHEDULED

// The plan says how the mesh cuts the program, and the levels after keep it.
// CHECK: module @mesh_of_plan_shards_program attributes {{.*}}dist.plan = #dist.plan<mesh = ["data" = 2 batch], zeroStage = 0>
// CHECK: dist.mesh @mesh axes ["data"] sizes [2]
// CHECK: func.func @infer(%{{.*}}: tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [4]">
// SCHEDULED: dist.plan = #dist.plan<mesh = ["data" = 2 batch], zeroStage = 0>
// SCHEDULED: exec.entry @infer
module @mesh_of_plan_shards_program attributes {dist.plan = #dist.plan<mesh = ["data" = 2 batch], zeroStage = 0>} {
  nn.variable @w = dense<0.5> : tensor<4x6xf32>
  func.func @infer(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
    %y = nn.dot %x, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
    return %y : tensor<8x6xf32>
  }
}

// -----

// Microbatches are one more axis, which a loop walks.
// CHECK: dist.mesh @mesh axes ["micro", "model"] sizes [4, 2] sequential ["micro"]
// CHECK: func.func @infer(%{{.*}}: tensor<8x4xf32> {dist.layout = #dist.layout<"[(4: micro)(2)], {{.*}}model
// SCHEDULED: exec.loop 4
module @microbatches_are_sequential_axis attributes {dist.plan = #dist.plan<mesh = ["model" = 2], microbatches = 4>} {
  nn.variable @w = dense<0.5> : tensor<4x6xf32>
  func.func @infer(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
    %y = nn.dot %x, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
    return %y : tensor<8x6xf32>
  }
}
