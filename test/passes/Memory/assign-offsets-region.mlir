// RUN: dpc-opt %s --split-input-file --dpc-assign-offsets=one-region | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-assign-offsets | FileCheck %s --check-prefix=TWO

// What is only computed with (%a) and what the collective works on (%s) take turns on the same bytes. State stays.
// CHECK: exec.memory = #exec.memory<arena = 64, shared = 64, peak = 128,
// CHECK: exec.persistent @state.w #nn.arg<parameter "w"> arena at 0
// CHECK: %[[A:.*]] = exec.buffer shared at 0
// CHECK: exec.launch @k(%{{.*}}) into(%[[A]])
// TWO: exec.memory = #exec.memory<arena = 128, shared = 64, peak = 192,
module @computation_and_collectives_take_turns {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<16xf32> }
exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<16xf32>
exec.entry @step {
  %w = exec.get @state.w : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  exec.launch @k(%w) into (%a) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @k(%a) into (%w) : (memref<16xf32>), (memref<16xf32>)
  %s = exec.buffer shared : memref<16xf32>
  exec.launch @k(%w) into (%s) : (memref<16xf32>), (memref<16xf32>)
  %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<16xf32>, memref<16xf32>
  exec.wait %e
  exec.launch @k(%s) into (%w) : (memref<16xf32>), (memref<16xf32>)
}
}

// -----
// Without a collective there is no shared memory.
// CHECK: exec.memory = #exec.memory<arena = 128, shared = 0, peak = 128,
module @no_collective_no_shared_memory {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<16xf32> }
exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<16xf32>
exec.entry @step {
  %w = exec.get @state.w : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  exec.launch @k(%w) into (%a) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @k(%a) into (%w) : (memref<16xf32>), (memref<16xf32>)
}
}

// -----
// A frame that is a persistent buffer stays in its space, and other frames move.
// CHECK-LABEL: @frames_follow_their_buffers
module @frames_follow_their_buffers {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<16xf32> }
exec.persistent @result.loss #nn.result<metric "loss"> arena : memref<16xf32>
exec.entry @step {
  %l = exec.get @result.loss : memref<16xf32>
  exec.zero %l : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  %b = exec.buffer arena : memref<16xf32>
  exec.zero %a : memref<16xf32>
  exec.zero %b : memref<16xf32>
  exec.run @step.F0 micro 0 (%l, %a : memref<16xf32>, memref<16xf32>)
  exec.run @step.F0 micro 1 (%l, %b : memref<16xf32>, memref<16xf32>)
  %s = exec.buffer shared : memref<16xf32>
  exec.launch @k(%b) into (%s) : (memref<16xf32>), (memref<16xf32>)
  %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<16xf32>, memref<16xf32>
  exec.wait %e
  exec.launch @k(%s) into (%l) : (memref<16xf32>), (memref<16xf32>)
}
exec.routine @step.F0 of @step count 2 frames 2 {
  // CHECK: exec.frame 0 arena
  // CHECK: exec.frame 1 shared
  // TWO: exec.frame 1 arena
  %0 = exec.frame 0 arena : memref<16xf32>
  %1 = exec.frame 1 arena : memref<16xf32>
  exec.launch @k(%1) into (%0) : (memref<16xf32>), (memref<16xf32>)
}
}
