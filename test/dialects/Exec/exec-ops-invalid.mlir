// RUN: dpc-opt %s --split-input-file --verify-diagnostics

// persistent_c1
module @persistent_refuses_result {
// expected-error @+1 {{is bound to #nn.result<state "w">, which is no state, input, control, metric or output}}
exec.persistent @a #nn.result<state "w"> arena : memref<i64>
}

// -----
// persistent_c2
module @persistent_refuses_unknown_control {
// expected-error @+1 {{is bound to the unknown control 'epoch'}}
exec.persistent @a #nn.arg<control "epoch"> arena : memref<i64>
}

// -----
// persistent_c3
module @persistent_refuses_control_tensor {
// expected-error @+1 {{holds a control in 'memref<1xi64>', which is no scalar of type i64, i32, f64 or f32}}
exec.persistent @a #nn.arg<control "step"> arena : memref<1xi64>
}

// -----
// persistent_c3
module @persistent_refuses_narrow_coordinate {
// expected-error @+1 {{holds a coordinate in 'memref<i32>', not in memref<i64>}}
exec.persistent @a #exec.coordinate<"data"> arena : memref<i32>
}

// -----
// entry_c1
module @entry_refuses_unknown_name {
// expected-error @+1 {{is named train; known: step, eval, infer}}
exec.entry @train {
}
}

// -----
// entry_c2
module @entry_refuses_missing_wait {
exec.entry @step {
  %g = exec.buffer shared : memref<4xf32>
  // expected-error @+1 {{is waited for 0 times, not once}}
  %e = exec.start all_reduce sum over ["data"] %g to %g id 0 : memref<4xf32>, memref<4xf32>
}
}

// -----
// function_c1
module @function_refuses_action {
// expected-error @+1 {{holds exec.zero, which is not part of a computation}}
exec.function @f piece 0 of @step {
  %g = exec.buffer arena : memref<4xf32>
  exec.zero %g : memref<4xf32>
}
}

// -----
// function_c2
module @function_refuses_missing_entry {
// expected-error @+1 {{belongs to @step, which is no exec.entry}}
exec.function @f piece 0 of @step {
}
}

// -----
// get_c1
module @get_refuses_unknown_buffer {
exec.entry @step {
  // expected-error @+1 {{names @w, which is no exec.persistent}}
  %w = exec.get @w : memref<4xf32>
}
}

// -----
// get_c1
module @get_refuses_other_type {
exec.persistent @w #nn.arg<parameter "w"> arena : memref<4xf32>
exec.entry @step {
  // expected-error @+1 {{has type 'memref<5xf32>', but @w is 'memref<4xf32>'}}
  %w = exec.get @w : memref<5xf32>
}
}

// -----
// buffer_c1
module @buffer_refuses_unaligned_offset {
exec.entry @step {
  // expected-error @+1 {{lies at byte 8, which is not a multiple of 64}}
  %w = exec.buffer arena at 8 : memref<4xf32>
}
}

// -----
// buffer_c2
module @buffer_refuses_negative_number {
exec.entry @step {
  // expected-error @+1 {{has the number -1, which is negative}}
  %w = exec.buffer arena at 64 number -1 : memref<4xf32>
}
}

// -----
// view_c1
module @view_refuses_bytes_past_end {
exec.entry @step {
  %w = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{takes bytes 8 to 24 of a buffer of 16}}
  %v = exec.view %w at 8 : memref<4xf32> to memref<4xf32>
}
}

// -----
// view_c1: the share of the last rank
module @view_refuses_share_past_end {
dist.mesh @mesh axes ["data"] sizes [3]
exec.entry @step {
  %w = exec.buffer shared : memref<8xf32>
  // expected-error @+1 {{takes bytes 0 to 48 of a buffer of 32}}
  %v = exec.view %w at 0 stride 16 over ["data"] : memref<8xf32> to memref<4xf32>
}
}

// -----
// launch_c1
module @launch_refuses_other_types {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  %b = exec.buffer arena : memref<5xf32>
  // expected-error @+1 {{passes buffers of '(tensor<4xf32>) -> tensor<5xf32>' to a kernel of '(tensor<4xf32>) -> tensor<4xf32>'}}
  exec.launch @k(%a) into (%b) : (memref<4xf32>), (memref<5xf32>)
}
}

// -----
// launch_c2
module @launch_refuses_missing_scratch {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.scratch_bytes = 64 : i64} { return %a : tensor<4xf32> }
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{passes 0 bytes of scratch in 0 buffers to a kernel that needs 64}}
  exec.launch @k(%a) into (%a) : (memref<4xf32>), (memref<4xf32>)
}
}

// -----
// microbatch_c1
module @microbatch_refuses_narrow_buffer {
exec.entry @step {
  %a = exec.buffer arena : memref<i32>
  // expected-error @+1 {{writes to 'memref<i32>', not to memref<i64>}}
  exec.microbatch into %a : memref<i32>
}
}

// -----
// microbatch_c1: rank
module @microbatch_refuses_tensor {
exec.entry @step {
  %a = exec.buffer arena : memref<1xi64>
  // expected-error @+1 {{writes to 'memref<1xi64>', not to memref<i64>}}
  exec.microbatch into %a : memref<1xi64>
}
}

// -----
// start_c1
module @start_refuses_other_type {
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  %b = exec.buffer shared : memref<4xf64>
  // expected-error @+1 {{reads 'memref<4xf32>' but writes 'memref<4xf64>'}}
  %e = exec.start all_reduce sum over ["data"] %a to %b id 0 : memref<4xf32>, memref<4xf64>
  exec.wait %e
}
}

// -----
// start_c2
module @start_refuses_arena {
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{uses a buffer in space arena, which no peer can see}}
  %e = exec.start all_reduce sum over ["data"] %a to %a id 0 : memref<4xf32>, memref<4xf32>
  exec.wait %e
}
}

// -----
// start_c3
module @start_refuses_share_of_other_axis {
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
exec.entry @step {
  %a = exec.buffer shared : memref<8xf32>
  %v = exec.view %a at 0 stride 16 over ["model"] : memref<8xf32> to memref<4xf32>
  // expected-error @+1 {{goes over ["data"] but uses a share over ["model"]}}
  %e = exec.start reduce_scatter sum over ["data"] %a to %v id 0 : memref<8xf32>, memref<4xf32>
  exec.wait %e
}
}

// -----
// start_c4
module @start_refuses_members_in_other_order {
exec.entry @step {
  %a = exec.buffer shared : memref<8xf32>
  // expected-error @+1 {{is for the coordinates 2, 0 on ["pipe"]}}
  %e = exec.start all_reduce sum over ["pipe"] of [2, 0] %a to %a id 0 : memref<8xf32>, memref<8xf32>
  exec.wait %e
}
}

// -----
// start_send_c1
module @send_refuses_arena {
exec.entry @step {
  %a = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{uses a buffer in space arena, which no peer can see}}
  %e = exec.start_send %a to 1 over "pipe" id 0 : memref<4xf32>
  exec.wait %e
}
}

// -----
// start_send_c2
module @send_refuses_share {
dist.mesh @mesh axes ["data", "pipe"] sizes [2, 2]
exec.entry @step {
  %a = exec.buffer shared : memref<8xf32>
  %v = exec.view %a at 0 stride 16 over ["data"] : memref<8xf32> to memref<4xf32>
  // expected-error @+1 {{uses a share over ["data"]}}
  %e = exec.start_send %v to 1 over "pipe" id 0 : memref<4xf32>
  exec.wait %e
}
}

// -----
// entry_c2
module @entry_refuses_message_without_wait {
exec.entry @step {
  %a = exec.buffer shared : memref<4xf32>
  // expected-error @+1 {{is waited for 0 times, not once}}
  %e = exec.start_recv %a from 1 over "pipe" id 0 : memref<4xf32>
}
}

// -----
// compute_c1
module @compute_refuses_unknown_function {
exec.entry @step {
  // expected-error @+1 {{names @f, which is no exec.function}}
  exec.compute @f
}
}

// -----
// loop_c1
module @loop_refuses_zero_iterations {
exec.entry @step {
  // expected-error @+1 {{runs 0 times}}
  exec.loop 0 {
  }
}
}

// -----

// expected-error@+1 {{a grid of 0 blocks of 32 threads is none that a device runs}}
module @grid_refuses_no_blocks attributes {x = #exec.grid<entry = "_0", blocks = 0, threads = 32, buffers = []>} {}

// -----

// expected-error@+1 {{a grid has 232449 bytes of shared memory per block}}
module @grid_refuses_more_shared_memory attributes {x = #exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [], shared = 232449>} {}

// -----

// expected-error@+1 {{a grid of 1 blocks of 2048 threads is none that a device runs}}
module @grid_refuses_too_many_threads attributes {x = #exec.grid<entry = "_0", blocks = 1, threads = 2048, buffers = []>} {}

// -----

// expected-error@+1 {{a grid has no buffer -1}}
module @grid_refuses_negative_buffer attributes {x = #exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [-1]>} {}

// -----

// expected-error@+1 {{no library call is a 'sort'}}
module @call_refuses_unknown_kind attributes {x = #exec.call<sort {type = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a library call has no buffer -1 at 0 for 0 bytes}}
module @call_refuses_negative_buffer attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, -1]>} {}

// -----

// expected-error@+1 {{a library call has no buffer 0 at -4 for 0 bytes}}
module @call_refuses_negative_offset attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0 at -4, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a library call has no buffer 3 at 0 for -1 bytes}}
module @call_refuses_negative_size attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3 for -1]>} {}

// -----

// expected-error@+1 {{a product has 3 buffers, not 4}}
module @product_refuses_too_few_buffers attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2]>} {}

// -----

// expected-error@+1 {{a product has 4 buffers, not 5}}
module @product_refuses_bias_without_buffer attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = bias, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'i32' is none of a library}}
module @product_refuses_integers attributes {x = #exec.call<product {type = i32, result = i32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'f64' in tf32 is none of a library}}
module @product_refuses_tf32_of_f64 attributes {x = #exec.call<product {type = f64, result = f64, tf32 = true, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'f32' has no result of 'bf16'}}
module @product_refuses_narrower_result attributes {x = #exec.call<product {type = f32, result = bf16, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'bf16' has no result of 'f16'}}
module @product_refuses_other_narrow_result attributes {x = #exec.call<product {type = bf16, result = f16, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product of 'f32' has no result of 'f64'}}
module @product_refuses_wider_f64_result attributes {x = #exec.call<product {type = f32, result = f64, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{the runtime has no type 'index'}}
module @product_refuses_index_type attributes {x = #exec.call<product {type = index, result = index, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{epilogue 'relu' is none of none, add, bias}}
module @product_refuses_unknown_epilogue attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = relu, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{tf32 'maybe' is none of false, true}}
module @product_refuses_unknown_flag attributes {x = #exec.call<product {type = f32, result = f32, tf32 = maybe, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{expected 'rows'}}
module @product_refuses_missing_field attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product has 1 batches of 0 x 32 sums of 64}}
module @product_refuses_no_rows attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 0, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a product has 1 batches of 96 x 32 sums of 2147483648}}
module @product_refuses_long_sums attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 2147483648, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a matrix of 96 x 64 has a stride of 63}}
module @product_refuses_short_stride attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 63, batchStride = 0, transposed = false}, b = {stride = 64, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a matrix of 64 x 32 has a stride of 63}}
module @product_refuses_short_transposed_stride attributes {x = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 96, columns = 32, depth = 64, a = {stride = 64, batchStride = 0, transposed = false}, b = {stride = 63, batchStride = 0, transposed = true}, d = {stride = 32, batchStride = 0, transposed = false}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution of 'i32' is none of a library}}
module @convolution_refuses_integers attributes {x = #exec.call<convolution {result = y, type = i32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution of 'bf16' in tf32 is none of a library}}
module @convolution_refuses_tf32_of_bf16 attributes {x = #exec.call<convolution {result = y, type = bf16, tf32 = true, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{result 'z' is none of x, w, y}}
module @convolution_refuses_unknown_result attributes {x = #exec.call<convolution {result = z, type = f32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution has 1 spatial dimensions, not 2 or 3}}
module @convolution_refuses_one_dimension attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 1, groups = 1, strides = [1], dilations = [1], padLow = [1], padHigh = [1], x = {extents = [8, 16, 14], strides = [224, 14, 1]}, w = {extents = [32, 16, 3], strides = [48, 3, 1]}, y = {extents = [8, 32, 14], strides = [448, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{strides has 2 numbers, not 3}}
module @convolution_refuses_four_dimensions attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 4, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{dilations has 1 numbers, not 2}}
module @convolution_refuses_missing_number attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution of 8x16x14x14 by 32x16x3x3 with 1 groups does not give 8x32x14x13}}
module @convolution_refuses_other_output attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 13], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution of 8x16x14x14 by 32x16x3x3 with 2 groups does not give 8x32x14x14}}
module @convolution_refuses_other_channels attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 2, groups = 2, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{elements of the convolution's tensor x of 8x16x14x14 have one place, or are too far apart}}
module @convolution_refuses_overlap attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 13, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1, 2, 3]>} {}

// -----

// expected-error@+1 {{a convolution has 2 buffers, not 4}}
module @convolution_refuses_two_buffers attributes {x = #exec.call<convolution {result = y, type = f32, tf32 = false, spatial = 2, groups = 1, strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1], x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]}, w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]}, y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}}, buffers = [0, 1]>} {}

// -----
// routine_c1
module @routine_refuses_unknown_entry {
// expected-error @+1 {{belongs to @eval, which is no exec.entry}}
exec.routine @step.F0 of @eval count 2 frames 0 {
}
}

// -----
// routine_c2
module @routine_refuses_loop {
exec.entry @step {
}
// expected-error @+1 {{holds exec.loop}}
exec.routine @step.F0 of @step count 2 frames 0 {
  exec.loop 2 {
  }
}
}

// -----
// frame_c1
func.func @frame_refuses_negative_number() {
  // expected-error @+1 {{has the number -1, which is negative}}
  %0 = exec.frame -1 arena : memref<4xf32>
  return
}

// -----
// run_c1
module @run_refuses_missing_frame {
exec.entry @step {
  // expected-error @+1 {{passes 0 frames to @step.F0, which takes 1}}
  exec.run @step.F0 micro 0 ()
}
exec.routine @step.F0 of @step count 2 frames 1 {
}
}

// -----
// run_c2
module @run_refuses_other_microbatch {
exec.entry @step {
  // expected-error @+1 {{is for microbatch 2 of 2}}
  exec.run @step.F0 micro 2 ()
}
exec.routine @step.F0 of @step count 2 frames 0 {
}
}

// -----
// run_c3
module @run_refuses_small_frame {
exec.entry @step {
  %0 = exec.buffer arena : memref<4xf32>
  // expected-error @+1 {{passes 'memref<4xf32>' in arena as frame 0, 'memref<8xf32>' in arena}}
  exec.run @step.F0 micro 0 (%0 : memref<4xf32>)
}
exec.routine @step.F0 of @step count 2 frames 1 {
  %0 = exec.frame 0 arena : memref<8xf32>
  exec.zero %0 : memref<8xf32>
}
}

// -----
// run_c3
module @run_refuses_frame_of_other_space {
exec.entry @step {
  %0 = exec.buffer arena : memref<8xf32>
  // expected-error @+1 {{passes 'memref<8xf32>' in arena as frame 0, 'memref<8xf32>' in shared}}
  exec.run @step.F0 micro 0 (%0 : memref<8xf32>)
}
exec.routine @step.F0 of @step count 2 frames 1 {
  %0 = exec.frame 0 shared : memref<8xf32>
  exec.zero %0 : memref<8xf32>
}
}

// -----
// run_c4
module @run_refuses_slice {
dist.mesh @mesh axes ["data"] sizes [2]
exec.entry @step {
  %0 = exec.buffer shared : memref<8xf32>
  %1 = exec.view %0 at 0 stride 16 over ["data"] : memref<8xf32> to memref<4xf32>
  // expected-error @+1 {{passes a slice of a microbatch or of a rank}}
  exec.run @step.F0 micro 0 (%1 : memref<4xf32>)
}
exec.routine @step.F0 of @step count 2 frames 1 {
}
}
