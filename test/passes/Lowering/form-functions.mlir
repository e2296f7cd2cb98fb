// RUN: dpc-opt %s --split-input-file --dpc-form-functions | FileCheck %s

// Launches up to a wait are one function, those after it the next; each says
// whose it is and which; buffers are named again where they are used, and known
// by their number.
module @wait_starts_new_function {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @wait_starts_new_function
// CHECK: exec.function @step.0 piece 0 of @step
// CHECK-NEXT: %[[A:.*]] = exec.buffer shared at 0 number 0 :
// CHECK-NEXT: exec.launch @k(%[[A]]) into(%[[A]])
// CHECK-NEXT: exec.launch
// CHECK: exec.function @step.1 piece 1 of @step
// CHECK-NEXT: exec.buffer shared at 0 number 0 :
// CHECK-NEXT: exec.launch
// CHECK-LABEL: exec.entry @step
// CHECK-NEXT: %[[B:.*]] = exec.buffer shared at 0 number 0 :
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
}

// -----

// What a loop repeats is a function of its own, which is called in each
// iteration; copies and the number of the microbatch are part of it. What stands
// before and after the loop is not joined over it.
module @loop_body_is_own_function {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @loop_body_is_own_function
// CHECK: exec.function @step.0 piece 0 of @step
// CHECK: exec.launch
// CHECK-NEXT: }
// CHECK: exec.function @step.1 piece 1 of @step
// CHECK-NEXT: %[[M:[0-9]+]] = exec.buffer arena at 64 number 1 : memref<i64>
// CHECK-NEXT: exec.microbatch into %[[M]]
// CHECK-NEXT: %[[A:[0-9]+]] = exec.buffer arena at 128 number 2 : memref<4xf32>
// CHECK-NEXT: exec.launch @k(%[[A]]) into(%[[A]])
// CHECK-NEXT: %[[ALL:[0-9]+]] = exec.buffer arena at 0 number 0 : memref<2x4xf32>
// CHECK-NEXT: %[[S:[0-9]+]] = exec.view %[[ALL]] at 0 stride 16
// CHECK-NEXT: exec.copy %[[A]] to %[[S]]
// CHECK-NEXT: }
// CHECK: exec.function @step.2 piece 2 of @step
// CHECK: exec.launch
// CHECK-NEXT: }
// CHECK-LABEL: exec.entry @step
// CHECK-NEXT: exec.compute @step.0
// CHECK-NEXT: exec.loop 2 {
// CHECK-NEXT: exec.compute @step.1
// CHECK-NEXT: }
// CHECK-NEXT: exec.compute @step.2
exec.entry @step {
  %all = exec.buffer arena at 0 : memref<2x4xf32>
  %m = exec.buffer arena at 64 : memref<i64>
  %a = exec.buffer arena at 128 : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
  exec.loop 2 {
    exec.microbatch into %m : memref<i64>
    exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
    %s = exec.view %all at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
    exec.copy %a to %s : memref<4xf32>
  }
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
}

// -----

// What sets memory to zero is an action, so it ends a function.
module @zero_ends_function {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @zero_ends_function
// CHECK-LABEL: exec.entry @eval
// CHECK: exec.compute @eval.0
// CHECK-NEXT: exec.zero
// CHECK-NEXT: exec.compute @eval.1
exec.entry @eval {
  %a = exec.buffer arena at 0 : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
  exec.zero %a : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
}

// -----

// No later pass follows the plan.
// CHECK-LABEL: module @drops_plan
// CHECK-NOT: dist.plan
module @drops_plan attributes {dist.plan = #dist.plan<microbatches = 2>} {
}
