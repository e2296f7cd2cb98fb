// RUN: dpc-opt %s --dpc-assign-offsets --split-input-file | FileCheck %s
// RUN: not dpc-opt %s --split-input-file --dpc-assign-offsets="capacity-bytes=64" 2>&1 | FileCheck %s --check-prefix=CAP
// CAP: needs 192 bytes a rank, but 64 bytes are allowed

module @dead_buffers_share_bytes {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> { return %a : tensor<16xf32> }

// Buffers that are never live together share bytes; persistent buffers keep theirs.
// CHECK-LABEL: module @dead_buffers_share_bytes
// CHECK: exec.memory = #exec.memory<arena = 192,
// CHECK: exec.persistent @state.w #nn.arg<parameter "w"> arena at [[W:[0-9]+]] :
exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<16xf32>
// CHECK-LABEL: exec.entry @step
exec.entry @step {
  %w = exec.get @state.w : memref<16xf32>
  // CHECK: exec.buffer arena at [[A:[0-9]+]]
  %a = exec.buffer arena : memref<16xf32>
  exec.launch @k(%w) into (%a) : (memref<16xf32>), (memref<16xf32>)
  %b = exec.buffer arena : memref<16xf32>
  exec.launch @k(%a) into (%b) : (memref<16xf32>), (memref<16xf32>)
  // CHECK: exec.buffer arena at [[B:[0-9]+]]
  // CHECK: exec.buffer arena at [[A]] :
  %c = exec.buffer arena : memref<16xf32>
  exec.launch @k(%b) into (%c) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @k(%c) into (%w) : (memref<16xf32>), (memref<16xf32>)
}
}

// -----
// A result may replace an operand that dies where the kernel says so.
// CHECK: exec.memory = #exec.memory<arena = 128,
module @result_replaces_aliased_operand {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<16xf32> }
exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<16xf32>
exec.entry @step {
  %w = exec.get @state.w : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  exec.launch @k(%w) into (%a) : (memref<16xf32>), (memref<16xf32>)
  %b = exec.buffer arena : memref<16xf32>
  exec.launch @k(%a) into (%b) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @k(%b) into (%w) : (memref<16xf32>), (memref<16xf32>)
}
}

// -----
// What a loop reads from outside keeps its bytes until the loop ends.
// CHECK: exec.memory = #exec.memory<arena = 192,
module @loop_keeps_outer_buffers {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> { return %a : tensor<16xf32> }
exec.entry @step {
  %a = exec.buffer arena : memref<16xf32>
  exec.zero %a : memref<16xf32>
  exec.loop 2 {
    %b = exec.buffer arena : memref<16xf32>
    exec.launch @k(%a) into (%b) : (memref<16xf32>), (memref<16xf32>)
    %c = exec.buffer arena : memref<16xf32>
    exec.launch @k(%b) into (%c) : (memref<16xf32>), (memref<16xf32>)
  }
}
}

// -----
// A collective holds its buffers until it is waited for.
// CHECK: exec.memory = #exec.memory<arena = 0, shared = 128,
module @collective_holds_its_buffers {
exec.entry @step {
  %a = exec.buffer shared : memref<16xf32>
  exec.zero %a : memref<16xf32>
  %e = exec.start all_reduce sum over ["data"] %a to %a id 0 : memref<16xf32>, memref<16xf32>
  %b = exec.buffer shared : memref<16xf32>
  exec.zero %b : memref<16xf32>
  exec.wait %e
}
}

// -----
// It may not where another operand reads bytes of it: the kernel says only that
// the first one dies element by element.
// CHECK: exec.memory = #exec.memory<arena = 192,
module @viewed_operand_is_not_replaced {
func.func private @k(%a: tensor<16xf32>) -> tensor<16xf32> { return %a : tensor<16xf32> }
func.func private @m(%a: tensor<16xf32>, %b: tensor<8xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<16xf32> }
exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<16xf32>
exec.entry @step {
  %w = exec.get @state.w : memref<16xf32>
  %a = exec.buffer arena : memref<16xf32>
  exec.launch @k(%w) into (%a) : (memref<16xf32>), (memref<16xf32>)
  %half = exec.view %a at 32 : memref<16xf32> to memref<8xf32>
  %b = exec.buffer arena : memref<16xf32>
  exec.launch @m(%a, %half) into (%b) : (memref<16xf32>, memref<8xf32>), (memref<16xf32>)
  exec.launch @k(%b) into (%w) : (memref<16xf32>), (memref<16xf32>)
}
}
