// RUN: dpc-opt %s --dpc-form-functions | FileCheck %s

// Launches up to a wait are one function, those after it the next; each says
// whose it is and which; buffers are named again where they are used.
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK: exec.function @step.0 piece 0 of @step
// CHECK-NEXT: %[[A:.*]] = exec.buffer shared at 0
// CHECK-NEXT: exec.launch @k(%[[A]]) into(%[[A]])
// CHECK-NEXT: exec.launch
// CHECK: exec.function @step.1 piece 1 of @step
// CHECK-NEXT: exec.buffer shared at 0
// CHECK-NEXT: exec.launch
// CHECK-LABEL: exec.entry @step
// CHECK-NEXT: %[[B:.*]] = exec.buffer shared at 0
// CHECK-NEXT: exec.compute @step.0
// CHECK-NEXT: exec.start
// CHECK-NEXT: exec.wait
// CHECK-NEXT: exec.compute @step.1
exec.entry @step {
  %a = exec.buffer shared at 0 : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
  %e = exec.start all_reduce sum over ["data"] %a to %a id 0 : memref<4xf32>, memref<4xf32>
  exec.wait %e
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
