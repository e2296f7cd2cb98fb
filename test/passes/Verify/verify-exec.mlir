// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-exec

// A sound program.
module @accepts_sound_program {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.loop 2 {
    exec.compute @step.0
  }
}
}

// -----

// (L1) Launches stand in functions.
module @refuses_launch_outside_function {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.entry @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  exec.loop 2 {
    // expected-error@+1 {{level 'exec': 'exec.launch' is no action}}
    exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
  }
}
}

// -----

// (L2) A function has one place in the order.
module @refuses_second_call_of_function {
// expected-error@+1 {{level 'exec': @step.0 is called 2 times, not once}}
exec.function @step.0 piece 0 of @step {
}
exec.entry @step {
  exec.compute @step.0
  exec.compute @step.0
}
}

// -----

// (L3) What is launched has code.
module @refuses_kernel_without_code {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
module @code {
}
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  // expected-error@+1 {{level 'exec': @k has no code}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
}
}

// -----

// (L3) So has every launch of a kernel.
module @refuses_launch_without_code {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.launches = [#exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [0, 1]>,
                                 #exec.grid<entry = "_1", blocks = 1, threads = 32, buffers = [1]>]} {
  return %a : tensor<4xf32>
}
module @code {
  module @k {
    llvm.func @k_0(!llvm.ptr, !llvm.ptr)
  }
}
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  // expected-error@+1 {{level 'exec': @k_1 has no code}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
}
}

// -----

// (L3) Its arguments are buffers of the kernel.
module @refuses_unknown_launch_buffer {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.launches = [#exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [0, 2]>]} {
  return %a : tensor<4xf32>
}
module @code {
  module @k {
    llvm.func @k_0(!llvm.ptr, !llvm.ptr)
  }
}
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  // expected-error@+1 {{level 'exec': @k_0 takes buffer 2 of 2}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
}
}

// -----

// (L3) So are the buffers of a library call.
module @refuses_unknown_call_buffer {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.launches = [#exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [0, 1], call = <product {type = f32, result = f32, tf32 = false, epilogue = bias, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = false}, d = {stride = 64, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3 for 4096, 1]>>]} {
  return %a : tensor<4xf32>
}
module @code {
  module @k {
    llvm.func @k_0(!llvm.ptr, !llvm.ptr)
  }
}
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  // expected-error@+1 {{level 'exec': @k_0 takes buffer 2 of 2}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
}
}

// -----

// (L4) A buffer that two functions name is one by its number.
module @refuses_buffer_without_number {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.function @step.0 piece 0 of @step {
  // expected-error@+1 {{level 'exec': has no number}}
  %a = exec.buffer arena at 0 : memref<4xf32>
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
}
}

// -----

// (L4) Another number is another buffer, whatever its place is.
module @refuses_two_places_of_buffer {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.function @step.0 piece 0 of @step {
  %a = exec.buffer arena at 0 number 0 : memref<4xf32>
  %b = exec.buffer arena at 0 number 1 : memref<4xf32>
  exec.launch @k(%a) into (%b) : (memref<4xf32>), (memref<4xf32>)
}
exec.function @step.1 piece 1 of @step {
  // expected-error@+1 {{level 'exec': buffer 1 is memref<4xf32> at 64 of arena here, and memref<4xf32> at 0 of arena elsewhere}}
  %b = exec.buffer arena at 64 number 1 : memref<4xf32>
  exec.launch @k(%b) into (%b) : (memref<4xf32>), (memref<4xf32>)
}
exec.entry @step {
  exec.compute @step.0
  exec.compute @step.1
}
}
