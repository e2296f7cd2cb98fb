// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2,model=2 batch-axes=data auto-axes=model split-atoms=false' | FileCheck %s

// The batch's cut flows from the input through the ops that keep it.
// CHECK-LABEL: module @batch_flows_through_ops
// CHECK: dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
// CHECK-LABEL: @step
// CHECK-SAME: %{{.*}}: tensor<8x6xf32> {dist.layout = #dist.layout<"[(8: data)], [6]">
// An output lies as it is computed, and says where the batch is in it.
// CHECK-SAME: -> (tensor<6x8xf32> {dist.layout = #dist.layout<"[6], [(8: data)]">, nn.batch_dim = 1 : i64,
module @batch_flows_through_ops {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.transpose {{.*}}dist.operands = [#dist.layout<"[(8: data)], [6]">], dist.results = [#dist.layout<"[6], [(8: data)]">]
  %0 = nn.transpose %x [1, 0] : tensor<8x6xf32> -> tensor<6x8xf32>
  // CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[6], [(8: data)]">]
  %1 = nn.tanh %0 : tensor<6x8xf32>
  // CHECK-NOT: dist.reshard
  return %1 : tensor<6x8xf32>
}
}

// -----

// An input without a batch dimension is whole, and what depends on it alone has none.
// CHECK-LABEL: module @input_without_batch_is_whole
// CHECK-LABEL: @step
// CHECK-SAME: dist.layout = #dist.layout<"[8], [6]">
// CHECK-NOT: nn.batch_dim
// CHECK: nn.tanh
module @input_without_batch_is_whole {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK-NOT: dist.reshard
  %0 = nn.tanh %x : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
}

// -----

// Of a contraction with a parameter, the cheapest loop is cut: the outer one
// needs no reduction, and the next contraction takes over where it ends.
// CHECK-LABEL: module @alternates_outer_and_summed_loops
// CHECK-LABEL: @step
// CHECK-SAME: tensor<64x512xf32> {dist.layout = #dist.layout<"[64], [(512: model)]">
// CHECK-SAME: tensor<512x64xf32> {dist.layout = #dist.layout<"[(512: model)], [64]">
module @alternates_outer_and_summed_loops {
func.func @step(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">},
                %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(256: data)], [(512: model)]">]
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.relu %0 : tensor<256x512xf32>
  // CHECK-NOT: dist.reshard
  // CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(256: data)], [64] partial sum(model)">]
  %2 = nn.dot %1, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  return %2 : tensor<256x64xf32>
}
}

// -----

// No loop is chosen for what is no parameter.
// CHECK-LABEL: module @constant_shards_no_loop
// CHECK-LABEL: @step
// CHECK-SAME: tensor<64x512xf32> {dist.layout = #dist.layout<"[64], [512]">
module @constant_shards_no_loop {
func.func @step(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<64x512xf32> {nn.arg = #nn.arg<constant "w">})
    -> (tensor<256x512xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}
}

// -----

// A partial sum passes an op that is additive ...
// CHECK-LABEL: module @partial_passes_additive_op
module @partial_passes_additive_op {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.reduce {{.*}}dist.results = [#dist.layout<"[6] partial sum(data)">]
  %0 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  // CHECK-NOT: dist.reshard
  // CHECK: nn.neg {{.*}}dist.results = [#dist.layout<"[6] partial sum(data)">]
  %1 = nn.neg %0 : tensor<6xf32>
  // CHECK: dist.reshard {{.*}} from <"[6] partial sum(data)"> to <"[6]">
  return %1 : tensor<6xf32>
}
}

// -----

// ... but not one that is not ...
// CHECK-LABEL: module @reduces_before_exp
module @reduces_before_exp {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  // CHECK: dist.reshard {{.*}} from <"[6] partial sum(data)"> to <"[6]">
  // CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[6]">]
  %1 = nn.exp %0 : tensor<6xf32>
  // CHECK-NOT: dist.reshard
  return %1 : tensor<6xf32>
}
}

// -----

// ... nor an addition of something whole, which would count twice ...
// CHECK-LABEL: module @reduces_before_whole_addend
module @reduces_before_whole_addend {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %b: tensor<6xf32> {nn.arg = #nn.arg<constant "b">})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  // CHECK: dist.reshard {{.*}} from <"[6] partial sum(data)"> to <"[6]">
  // CHECK: nn.add {{.*}}dist.results = [#dist.layout<"[6]">]
  %1 = nn.add %0, %b : tensor<6xf32>
  return %1 : tensor<6xf32>
}
}

// -----

// ... nor a broadcast, after which there would be more to reduce.
// CHECK-LABEL: module @reduces_before_broadcast
module @reduces_before_broadcast {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  // CHECK: dist.reshard {{.*}} from <"[6] partial sum(data)"> to <"[6]">
  // CHECK: nn.broadcast {{.*}}dist.results = [#dist.layout<"[6], [4]">]
  %1 = nn.broadcast %0 [0] : tensor<6xf32> -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
}

// -----

// The largest over a cut loop is partial too.
// CHECK-LABEL: module @maximum_is_partial
module @maximum_is_partial {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.reduce max {{.*}}dist.results = [#dist.layout<"[6] partial max(data)">]
  %0 = nn.reduce max %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

// -----

// A product is not: the reduced loop is whole.
// CHECK-LABEL: module @product_gathers_its_operand
module @product_gathers_its_operand {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: dist.reshard {{.*}} from <"[(8: data)], [6]"> to <"[8], [6]">
  // CHECK: nn.reduce prod {{.*}}dist.results = [#dist.layout<"[6]">]
  %0 = nn.reduce prod %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

// -----

// One axis in two dimensions of a result: the second operand is gathered.
// CHECK-LABEL: module @repeated_axis_gathers_second_operand
module @repeated_axis_gathers_second_operand {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %y: tensor<4xf32> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<8x4xf32> {nn.result = #nn.result<output "z">}) {
  // CHECK: dist.reshard %{{.*}} from <"[(4: data)]"> to <"[4]">
  // CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(8: data)], [4]">]
  %0 = nn.dot %x, %y contract [] [] : tensor<8xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

// State that says its layout keeps it, and others follow.
// CHECK-LABEL: module @given_state_layout_spreads
// CHECK-LABEL: @step
// CHECK-SAME: tensor<6xf32> {dist.layout = #dist.layout<"[(3: model)(2)]">
module @given_state_layout_spreads {
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(3: model)(2)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  // CHECK: nn.neg {{.*}}dist.results = [#dist.layout<"[(3: model)(2)]">]
  %0 = nn.neg %w : tensor<6xf32>
  // CHECK-NOT: dist.reshard
  return %0 : tensor<6xf32>
}
}

// -----

// @eval reads the state as @step stores it.
module @eval_reads_layout_of_step {
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(6: model)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %w : tensor<6xf32>
}
// CHECK-LABEL: module @eval_reads_layout_of_step
// CHECK-LABEL: @eval
// CHECK-SAME: tensor<6xf32> {dist.layout = #dist.layout<"[(6: model)]">
func.func @eval(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">},
                %v: tensor<6xf32> {nn.arg = #nn.arg<constant "v">})
    -> (tensor<f32> {nn.result = #nn.result<metric "m">}) {
  // CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"scalar partial sum(model)">]
  %0 = nn.dot %w, %v contract [0] [0] : tensor<6xf32>, tensor<6xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// A sum where the axis cuts one segment alone would count the other one on each
// device: it is taken whole.
// CHECK-LABEL: module @sum_gathers_unsharded_segment
module @sum_gathers_unsharded_segment {
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(4: model) + 2]">})
    -> (tensor<f32> {nn.result = #nn.result<output "y">}) {
  // CHECK: dist.reshard {{.*}} from <"[(4: model) + 2]"> to <"[6]">
  // CHECK: nn.reduce {{.*}}dist.results = [#dist.layout<"scalar">]
  %0 = nn.reduce sum %w [0] : tensor<6xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// Where the axis cuts both, it is partial.
// CHECK-LABEL: module @sum_of_sharded_segments_is_partial
module @sum_of_sharded_segments_is_partial {
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(4: model) + (2: model)]">})
    -> (tensor<f32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.reduce {{.*}}dist.results = [#dist.layout<"scalar partial sum(model)">]
  %0 = nn.reduce sum %w [0] : tensor<6xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// A composite whose row is cut is taken apart ...
// CHECK-LABEL: module @decomposes_softmax_of_sharded_row
module @decomposes_softmax_of_sharded_row {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 1>})
    -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK-NOT: nn.softmax
  // CHECK: nn.reduce max {{.*}}dist.results = [#dist.layout<"[8] partial max(data)">]
  %0 = nn.softmax %x dim 1 : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
}

// -----

// ... and kept where it is not.
// CHECK-LABEL: module @keeps_softmax_of_whole_row
module @keeps_softmax_of_whole_row {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.softmax {{.*}}dist.results = [#dist.layout<"[(8: data)], [6]">]
  %0 = nn.softmax %x dim 1 : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
}

// -----

// A few rows that are added into a large table are brought together: that moves
// less than reducing the table. The table is then whole everywhere.
// CHECK-LABEL: module @scatter_gathers_few_rows
// CHECK: %[[U:.*]] = dist.reshard %{{.*}} from <"[(64: data)], [256]"> to <"[64], [256]">
// CHECK: %[[I:.*]] = dist.reshard %{{.*}} from <"[(64: data)]"> to <"[64]">
// CHECK: nn.scatter_add %[[U]], %[[I]] {{.*}}dist.results = [#dist.layout<"[8192], [256]">]
module @scatter_gathers_few_rows {
func.func @step(%u: tensor<64x256xf32> {nn.arg = #nn.arg<input "u", batch = 0>},
                %i: tensor<64xi64> {nn.arg = #nn.arg<input "i", batch = 0>})
    -> (tensor<8192x256xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.scatter_add %u, %i dim 0 : tensor<64x256xf32>, tensor<64xi64> -> tensor<8192x256xf32>
  return %0 : tensor<8192x256xf32>
}
}

// -----

// Where the table is no larger than the rows, each device adds up its own.
// CHECK-LABEL: module @scatter_into_small_table_is_partial
// CHECK: nn.scatter_add {{.*}}dist.results = [#dist.layout<"[64], [256] partial sum(data)">]
module @scatter_into_small_table_is_partial {
func.func @step(%u: tensor<64x256xf32> {nn.arg = #nn.arg<input "u", batch = 0>},
                %i: tensor<64xi64> {nn.arg = #nn.arg<input "i", batch = 0>})
    -> (tensor<64x256xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.scatter_add %u, %i dim 0 : tensor<64x256xf32>, tensor<64xi64> -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}
}

// -----

// A weight's gradient is reduced though its operands are smaller: every device
// would compute all of it.
// CHECK-LABEL: module @weight_gradient_is_partial
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[1024], [1024] partial sum(data)">]
module @weight_gradient_is_partial {
func.func @step(%x: tensor<128x1024xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %g: tensor<128x1024xf32> {nn.arg = #nn.arg<input "g", batch = 0>})
    -> (tensor<1024x1024xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %g contract [0] [0] : tensor<128x1024xf32>, tensor<128x1024xf32> -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
}

// -----

// An output's samples may be several consecutive indices; a partial sum over the
// batch is completed, and is one value of it.
// CHECK-LABEL: module @output_samples_are_consecutive_indices
// CHECK-LABEL: @infer
// CHECK-SAME: -> (tensor<48xf32> {dist.layout = #dist.layout<"[(8: data)(6)]">, nn.batch_dim = 0 : i64, nn.result = #nn.result<output "rows">},
// CHECK-SAME: tensor<6xf32> {dist.layout = #dist.layout<"[6]">, nn.result = #nn.result<output "sum">})
module @output_samples_are_consecutive_indices {
func.func @infer(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<48xf32> {nn.result = #nn.result<output "rows">}, tensor<6xf32> {nn.result = #nn.result<output "sum">}) {
  %0 = nn.reshape %x : tensor<8x6xf32> -> tensor<48xf32>
  %1 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  // CHECK: dist.reshard {{.*}} from <"[6] partial sum(data)"> to <"[6]">
  return %0, %1 : tensor<48xf32>, tensor<6xf32>
}
}

// -----

// The batch as the minor part of a dimension does not count samples.
// CHECK-LABEL: module @minor_batch_counts_no_samples
// CHECK-NOT: nn.batch_dim
// CHECK: nn.transpose
module @minor_batch_counts_no_samples {
func.func @infer(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<48xf32> {nn.result = #nn.result<output "rows">}) {
  %0 = nn.transpose %x [1, 0] : tensor<8x6xf32> -> tensor<6x8xf32>
  %1 = nn.reshape %0 : tensor<6x8xf32> -> tensor<48xf32>
  return %1 : tensor<48xf32>
}
}

// -----

// Positions that are a sum (a shifted sequence) inside a product are whole, the
// samples around them are cut as ever.
// CHECK-LABEL: module @shifted_positions_stay_whole
// CHECK-LABEL: @infer
// CHECK-SAME: -> (tensor<48xf32> {dist.layout = #dist.layout<"[(8: data)(6)]">, nn.batch_dim = 0 : i64,
// CHECK-NOT: dist.reshard
module @shifted_positions_stay_whole {
func.func @infer(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<48xf32> {nn.result = #nn.result<output "rows">}) {
  %0 = nn.slice %x starts [0, 1] limits [8, 6] strides [1, 1] : tensor<8x6xf32> -> tensor<8x5xf32>
  %1 = nn.slice %x starts [0, 0] limits [8, 1] strides [1, 1] : tensor<8x6xf32> -> tensor<8x1xf32>
  %2 = nn.concat %0, %1 dim 1 : tensor<8x5xf32>, tensor<8x1xf32> -> tensor<8x6xf32>
  %3 = nn.reshape %2 : tensor<8x6xf32> -> tensor<48xf32>
  return %3 : tensor<48xf32>
}
}
