// RUN: dpc-opt %s --split-input-file --dpc-delay-waits | FileCheck %s

// A wait goes down to the first op that reads what the collective writes; others may
// read what it reads.
module @waits_at_first_reader {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @waits_at_first_reader
// CHECK-LABEL: exec.entry @step
// CHECK: %[[E:.*]] = exec.start all_gather
// CHECK-NEXT: exec.launch @k(%[[A:[0-9]+]]) into(%[[X:[0-9]+]])
// CHECK-NEXT: exec.launch @k(%[[X]])
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: exec.copy
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  %b = exec.buffer shared : memref<2x4xf32>
  %x = exec.buffer arena : memref<4xf32>
  %y = exec.buffer arena : memref<2x4xf32>
  exec.zero %a : memref<4xf32>
  %e = exec.start all_gather sum over ["data"] %a to %b id 0 : memref<4xf32>, memref<2x4xf32>
  exec.wait %e
  exec.launch @k(%a) into (%x) : (memref<4xf32>), (memref<4xf32>)
  exec.launch @k(%x) into (%x) : (memref<4xf32>), (memref<4xf32>)
  exec.copy %b to %y : memref<2x4xf32>
}
}

// -----
// What it reads is not overwritten before it has ended, but other bytes of the same
// buffer may be. Waits keep the order of their starts.
module @waits_before_overwriting_operand {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @waits_before_overwriting_operand
// CHECK-LABEL: exec.entry @step
// CHECK: %[[E:.*]] = exec.start all_gather {{.*}} id 0
// CHECK-NEXT: exec.zero %{{.*}} : memref<4xf32>
// CHECK-NEXT: %[[F:.*]] = exec.start all_gather {{.*}} id 1
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: exec.zero %{{.*}} : memref<4xf32>
// CHECK-NEXT: exec.wait %[[F]]
// CHECK-NEXT: }
exec.entry @step {
  %s = exec.buffer shared : memref<8xf32>
  %a = exec.view %s at 0 : memref<8xf32> to memref<4xf32>
  %b = exec.view %s at 16 : memref<8xf32> to memref<4xf32>
  %x = exec.buffer shared : memref<2x4xf32>
  %y = exec.buffer shared : memref<2x4xf32>
  %e = exec.start all_gather sum over ["data"] %a to %x id 0 : memref<4xf32>, memref<2x4xf32>
  exec.wait %e
  exec.zero %b : memref<4xf32>
  %f = exec.start all_gather sum over ["data"] %b to %y id 1 : memref<4xf32>, memref<2x4xf32>
  exec.wait %f
  exec.zero %a : memref<4xf32>
}
}

// -----
// A collective that reads the result of another one waits for it. Nothing is under
// way when a loop begins, nor when an iteration ends.
// CHECK-LABEL: module @waits_before_dependent_collective
// CHECK-LABEL: exec.entry @step
// CHECK: %[[E:.*]] = exec.start all_reduce {{.*}} id 0
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: %[[F:.*]] = exec.start all_reduce {{.*}} id 1
// CHECK-NEXT: exec.wait %[[F]]
// CHECK-NEXT: exec.loop 2 {
// CHECK: %[[G:.*]] = exec.start all_reduce {{.*}} id 2
// CHECK-NEXT: exec.zero
// CHECK-NEXT: exec.wait %[[G]]
// CHECK-NEXT: }
module @waits_before_dependent_collective {
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  %b = exec.buffer shared : memref<4xf32>
  exec.zero %a : memref<4xf32>
  %e = exec.start all_reduce sum over ["data"] %a to %a id 0 : memref<4xf32>, memref<4xf32>
  exec.wait %e
  %f = exec.start all_reduce sum over ["model"] %a to %a id 1 : memref<4xf32>, memref<4xf32>
  exec.wait %f
  exec.loop 2 {
    %c = exec.buffer arena : memref<4xf32>
    %g = exec.start all_reduce sum over ["data"] %b to %b id 2 : memref<4xf32>, memref<4xf32>
    exec.wait %g
    exec.zero %c : memref<4xf32>
  }
}
}

// -----
// The buffer of a sent message may be read, but not written, before the wait. The buffer of a
// received message may not be accessed.
module @waits_for_messages {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @waits_for_messages
// CHECK: %[[S:.*]] = exec.start_send
// CHECK-NEXT: %[[R:.*]] = exec.start_recv
// CHECK-NEXT: exec.launch @k(%[[A:.*]]) into(%[[X:.*]])
// CHECK-NEXT: exec.wait %[[R]]
// CHECK-NEXT: exec.launch
// CHECK-NEXT: exec.wait %[[S]]
// CHECK-NEXT: exec.zero %[[A]]
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  %b = exec.buffer shared : memref<4xf32>
  %x = exec.buffer arena : memref<4xf32>
  exec.zero %a : memref<4xf32>
  %s = exec.start_send %a to 1 over "pipe" id 0 : memref<4xf32>
  exec.wait %s
  %r = exec.start_recv %b from 1 over "pipe" id 1 : memref<4xf32>
  exec.wait %r
  exec.launch @k(%a) into (%x) : (memref<4xf32>), (memref<4xf32>)
  exec.launch @k(%b) into (%x) : (memref<4xf32>), (memref<4xf32>)
  exec.zero %a : memref<4xf32>
}
}
