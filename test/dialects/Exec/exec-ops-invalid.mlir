// RUN: dpc-opt %s --split-input-file --verify-diagnostics

// persistent_c1
// expected-error @+1 {{is bound to #nn.result<state "w">, which is no state, input, control, metric or output}}
exec.persistent @a #nn.result<state "w"> arena : memref<i64>

// -----
// persistent_c2
// expected-error @+1 {{is bound to the unknown control 'epoch'}}
exec.persistent @a #nn.arg<control "epoch"> arena : memref<i64>

// -----
// persistent_c3
// expected-error @+1 {{holds a control in 'memref<1xi64>', which is no scalar of type i64, i32, f64 or f32}}
exec.persistent @a #nn.arg<control "step"> arena : memref<1xi64>

// -----
// persistent_c3
// expected-error @+1 {{holds a coordinate in 'memref<i32>', not in memref<i64>}}
exec.persistent @a #exec.coordinate<"data"> arena : memref<i32>

// -----
// entry_c1
// expected-error @+1 {{is named train; known: step, eval, infer}}
exec.entry @train {
}

// -----
// entry_c2
exec.entry @step {
  %g = exec.buffer shared : memref<4xf32>
  // expected-error @+1 {{is waited for 0 times, not once}}
  %e = exec.start all_reduce sum over ["data"] %g to %g id 0 : memref<4xf32>, memref<4xf32>
}

// -----
// function_c1
// expected-error @+1 {{holds exec.zero, which is not part of a computation}}
exec.function @f piece 0 of @step {
  %g = exec.buffer arena : memref<4xf32>
  exec.zero %g : memref<4xf32>
}

// -----
// function_c2
// expected-error @+1 {{belongs to @step, which is no exec.entry}}
exec.function @f piece 0 of @step {
}

// -----
// get_c1
exec.entry @step {
  // expected-error @+1 {{names @w, which is no exec.persistent}}
  %w = exec.get @w : memref<4xf32>
}

// -----
// get_c1
exec.persistent @w #nn.arg<parameter "w"> arena : memref<4xf32>
exec.entry @step {
  // expected-error @+1 {{has type 'memref<5xf32>', but @w is 'memref<4xf32>'}}
  %w = exec.get @w : memref<5xf32>
}

// -----
// buffer_c1
exec.entry @step {
  // expected-error @+1 {{lies at byte 8, which is not a multiple of 64}}
  %w = exec.buffer arena at 8 : memref<4xf32>
}

// -----
// buffer_c2
exec.entry @step {
  // expected-error @+1 {{has the number -1, which is negative}}
  %w = exec.buffer arena at 64 number -1 : memref<4xf32>
}

// -----
// view_c1
exec.entry @step {
  %w = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{takes bytes 8 to 24 of a buffer of 16}}
  %v = exec.view %w at 8 : memref<4xf32> to memref<4xf32>
}

// -----
// view_c1: the share of the last rank
dist.mesh @mesh axes ["data"] sizes [3]
exec.entry @step {
  %w = exec.buffer shared : memref<8xf32>
  // expected-error @+1 {{takes bytes 0 to 48 of a buffer of 32}}
  %v = exec.view %w at 0 stride 16 over ["data"] : memref<8xf32> to memref<4xf32>
}

// -----
// launch_c1
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  %b = exec.buffer arena : memref<5xf32>
  // expected-error @+1 {{passes buffers of '(tensor<4xf32>) -> tensor<5xf32>' to a kernel of '(tensor<4xf32>) -> tensor<4xf32>'}}
  exec.launch @k(%a) into (%b) : (memref<4xf32>), (memref<5xf32>)
}

// -----
// launch_c2
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.scratch_bytes = 64 : i64} { return %a : tensor<4xf32> }
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{passes 0 bytes of scratch in 0 buffers to a kernel that needs 64}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}

// -----
// microbatch_c1
exec.entry @step {
  %a = exec.buffer arena : memref<i32>
  // expected-error @+1 {{writes to 'memref<i32>', not to memref<i64>}}
  exec.microbatch into %a : memref<i32>
}

// -----
// microbatch_c1: rank
exec.entry @step {
  %a = exec.buffer arena : memref<1xi64>
  // expected-error @+1 {{writes to 'memref<1xi64>', not to memref<i64>}}
  exec.microbatch into %a : memref<1xi64>
}

// -----
// start_c1
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  %b = exec.buffer shared : memref<4xf64>
  // expected-error @+1 {{reads 'memref<4xf32>' but writes 'memref<4xf64>'}}
  %e = exec.start all_reduce sum over ["data"] %a to %b id 0 : memref<4xf32>, memref<4xf64>
  exec.wait %e
}

// -----
// start_c2
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{uses a buffer in space arena, which no peer can see}}
  %e = exec.start all_reduce sum over ["data"] %a to %a id 0 : memref<4xf32>, memref<4xf32>
  exec.wait %e
}

// -----
// start_c3
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
exec.entry @step {
  %a = exec.buffer shared : memref<8xf32>
  %v = exec.view %a at 0 stride 16 over ["model"] : memref<8xf32> to memref<4xf32>
  // expected-error @+1 {{goes over ["data"] but uses a share over ["model"]}}
  %e = exec.start reduce_scatter sum over ["data"] %a to %v id 0 : memref<8xf32>, memref<4xf32>
  exec.wait %e
}

// -----
// compute_c1
exec.entry @step {
  // expected-error @+1 {{names @f, which is no exec.function}}
  exec.compute @f
}

// -----
// loop_c1
exec.entry @step {
  // expected-error @+1 {{runs 0 times}}
  exec.loop 0 {
  }
}

// -----

// expected-error@+1 {{a grid of 0 blocks of 32 threads is none that a device runs}}
module attributes {x = #exec.grid<entry = "_0", blocks = 0, threads = 32, buffers = []>} {}

// -----

// expected-error@+1 {{a grid of 1 blocks of 2048 threads is none that a device runs}}
module attributes {x = #exec.grid<entry = "_0", blocks = 1, threads = 2048, buffers = []>} {}

// -----

// expected-error@+1 {{a grid has no buffer -1}}
module attributes {x = #exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [-1]>} {}

// -----

// expected-error@+1 {{no library call is a 'sort'}}
module attributes {x = #exec.call<sort {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a library call has no buffer -1 at 0 for 0 bytes}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, -1]>} {}

// -----

// expected-error@+1 {{a library call has no buffer 0 at -4 for 0 bytes}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0 at -4, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a library call has no buffer 3 at 0 for -1 bytes}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3 for -1]>} {}

// -----

// expected-error@+1 {{a product has 3 buffers, not 4}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2]>} {}

// -----

// expected-error@+1 {{a product has 4 buffers, not 5}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = bias, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'i32' is none of a library}}
module attributes {x = #exec.call<product {type = i32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'f64' in tf32 is none of a library}}
module attributes {x = #exec.call<product {type = f64, tf32 = true, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{the runtime has no type 'index'}}
module attributes {x = #exec.call<product {type = index, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{epilogue 'relu' is none of none, add, bias}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = relu, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{tf32 'maybe' is none of false, true}}
module attributes {x = #exec.call<product {type = f32, tf32 = maybe, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{expected 'rows'}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product has 1 batches of 0 x 32 sums of 64}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 0, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product has 1 batches of 96 x 32 sums of 2147483648}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 2147483648, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a matrix of 96 x 64 has a stride of 63}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 63, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a matrix of 64 x 32 has a stride of 63}}
module attributes {x = #exec.call<product {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 63, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}
