// RUN: dpc-opt %s | dpc-opt | FileCheck %s

module @exec_ops_round_trip {
exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<4x3xf32>
// CHECK-LABEL: module @exec_ops_round_trip
// CHECK: exec.persistent @storage.p #dist.storage<"p" [<#nn.arg<parameter "b">, tensor<5xf32>, <"[5]"> at 0>]> shared at 0 : memref<16xf32>
exec.persistent @storage.p #dist.storage<"p" [<#nn.arg<parameter "b">, tensor<5xf32>, <"[5]"> at 0>]> shared at 0 : memref<16xf32>
exec.persistent @input.x #nn.arg<input "x", batch = 0> arena at 0 : memref<8x4xf32>
// CHECK: exec.persistent @control.step #nn.arg<control "step"> arena : memref<i64>
exec.persistent @control.step #nn.arg<control "step"> arena : memref<i64>
// CHECK: exec.persistent @coordinate.data #exec.coordinate<"data"> arena : memref<i64>
exec.persistent @coordinate.data #exec.coordinate<"data"> arena : memref<i64>
// CHECK: exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1]>, #exec.grid<entry = "_1", blocks = 1, threads = 1, buffers = [1]>]
func.func private @grids(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1]>,
                                 #exec.grid<entry = "_1", blocks = 1, threads = 1, buffers = [1]>]} {
  return %a : tensor<4xf32>
}
func.func private @kernel.0(%a: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {exec.scratch_bytes = 64 : i64} {
  return %a : tensor<4x3xf32>
}
func.func private @kernel.1() -> tensor<4xf32> {
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: exec.function @step.0 piece 0 of @step
exec.function @step.0 piece 0 of @step {
  // CHECK: %[[W:.*]] = exec.get @state.w : memref<4x3xf32>
  %w = exec.get @state.w : memref<4x3xf32>
  // CHECK: %[[S:.*]] = exec.buffer arena at 64 number 3 : memref<64xi8>
  %s = exec.buffer arena at 64 number 3 : memref<64xi8>
  // CHECK: exec.launch @kernel.0(%[[W]]) into(%[[W]]) scratch(%[[S]]) :
  exec.launch @kernel.0(%w) into (%w) scratch (%s) : (memref<4x3xf32>), (memref<4x3xf32>), (memref<64xi8>)
  // CHECK: exec.launch @kernel.1() into(%[[O:.*]]) : (), (memref<4xf32>)
  %o = exec.buffer arena at 192 number 4 : memref<4xf32>
  exec.launch @kernel.1() into (%o) : (), (memref<4xf32>)
  // CHECK: exec.microbatch into
  %c = exec.buffer arena at 128 : memref<i64>
  exec.microbatch into %c : memref<i64>
}
// CHECK-LABEL: exec.entry @step
exec.entry @step {
  // CHECK: exec.loop 2 {
  exec.loop 2 {
    // CHECK: exec.compute @step.0
    exec.compute @step.0
  }
  %g = exec.buffer shared at 0 : memref<100xf32>
  // CHECK: exec.view %{{.*}} at 16 : memref<100xf32> to memref<4x3xf32>
  %v = exec.view %g at 16 : memref<100xf32> to memref<4x3xf32>
  // CHECK: exec.view %{{.*}} at 0 stride 200 over ["data"] : memref<100xf32> to memref<50xf32>
  %share = exec.view %g at 0 stride 200 over ["data"] : memref<100xf32> to memref<50xf32>
  %w = exec.get @state.w : memref<4x3xf32>
  // CHECK: exec.copy
  exec.copy %w to %v : memref<4x3xf32>
  // CHECK: exec.zero
  exec.zero %v : memref<4x3xf32>
  // CHECK: %[[E:.*]] = exec.start all_reduce sum over ["data"] %[[G:.*]] to %[[G]] id 3 : memref<100xf32>, memref<100xf32>
  %e = exec.start all_reduce sum over ["data"] %g to %g id 3 : memref<100xf32>, memref<100xf32>
  // CHECK: exec.wait %[[E]]
  exec.wait %e
  // CHECK: exec.start all_reduce sum over ["pipe"] of [0, 2] %[[G]] to %[[G]] id 4
  %s = exec.start all_reduce sum over ["pipe"] of [0, 2] %g to %g id 4 : memref<100xf32>, memref<100xf32>
  exec.wait %s
  // CHECK: %[[M:.*]] = exec.start_send %[[G]] to 1 over "pipe" id 5 : memref<100xf32>
  // CHECK: exec.wait %[[M]]
  %m = exec.start_send %g to 1 over "pipe" id 5 : memref<100xf32>
  exec.wait %m
  // CHECK: exec.start_recv %[[G]] from 0 over "pipe" id 6 : memref<100xf32>
  %r = exec.start_recv %g from 0 over "pipe" id 6 : memref<100xf32>
  exec.wait %r
}

// A library call: default places of buffers are left out, and all other fields come back.
// CHECK-LABEL: func.func private @library
// CHECK-SAME: #exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 2], call = <product {type = bf16, result = f32, tf32 = false, epilogue = bias, batches = 2, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 6144, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 3072, transposed = false}}, buffers = [0, 1, 2, 3 at 6400 for 4096, 1 at 64]>>
// CHECK-SAME: #exec.grid<entry = "_1", blocks = 1, threads = 32, buffers = [2], call = <product {type = f32, result = f32, tf32 = true, epilogue = none,
// CHECK-SAME: buffers = [0, 1, 2, 3]>, lone = true>
func.func private @library(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.launches = [
      #exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 2],
        call = <product {type = bf16, result = f32, tf32 = false, epilogue = bias, batches = 2, rows = 96, columns = 32, depth = 64,
          a = {stride = 64, batchStride = 6144, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true},
          d = {stride = 32, batchStride = 3072, transposed = false}}, buffers = [0, 1, 2 at 0, 3 at 6400 for 4096, 1 at 64]>>,
      #exec.grid<entry = "_1", blocks = 1, threads = 32, buffers = [2],
        call = <product {type = f32, result = f32, tf32 = true, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64,
          a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true},
          d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>, lone = true>]} {
  %0 = nn.kernel (%a : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %y = nn.exp %x : tensor<4xf32>
    nn.yield %y : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// An entry runs a routine with buffers of its own.
module @routines {
exec.entry @step {
  // CHECK: %[[B:.*]] = exec.buffer arena : memref<8xf32>
  %0 = exec.buffer arena : memref<8xf32>
  // CHECK: exec.run @step.F0 micro 1(%[[B]] : memref<8xf32>)
  exec.run @step.F0 micro 1 (%0 : memref<8xf32>)
  // CHECK: exec.run @step.W0 micro 0()
  exec.run @step.W0 micro 0 ()
}
// CHECK: exec.routine @step.F0 of @step count 2 frames 1 {
exec.routine @step.F0 of @step count 2 frames 1 {
  // CHECK: exec.frame 0 arena : memref<4xf32>
  %0 = exec.frame 0 arena : memref<4xf32>
  exec.zero %0 : memref<4xf32>
}
exec.routine @step.W0 of @step count 2 frames 0 {
}
}
