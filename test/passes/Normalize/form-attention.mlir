// RUN: dpc-opt %s --split-input-file --dpc-form-attention --canonicalize --cse | FileCheck %s

// Products around a softmax become one op.
// CHECK-LABEL: @forms_plain_attention
func.func @forms_plain_attention(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 : 
  // CHECK-NOT: nn.softmax
  // CHECK: return %[[Y]]
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Heads are read and written where projections have them.
// CHECK-LABEL: @reads_heads_of_projections
func.func @reads_heads_of_projections(%a: tensor<2x4x3x8xf32>, %b: tensor<2x4x3x8xf32>, %c: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: nn.transpose
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 1 scale
  // CHECK-NOT: nn.transpose
  // CHECK: return %[[Y]]
  %qa = nn.transpose %a [0, 2, 1, 3] : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %kb = nn.transpose %b [0, 2, 1, 3] : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %vc = nn.transpose %c [0, 2, 1, 3] : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %s = nn.dot %qa, %kb batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %vc batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  %o = nn.transpose %y [0, 2, 1, 3] : tensor<2x3x4x8xf32> -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// An operand that lies otherwise than the others is transposed.
// CHECK-LABEL: @transposes_mixed_operand
func.func @transposes_mixed_operand(%a: tensor<2x4x3x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Q:.*]] = nn.transpose %arg0 [0, 2, 1, 3]
  // CHECK: nn.attention %[[Q]], %arg1, %arg2 rows 2
  %qa = nn.transpose %a [0, 2, 1, 3] : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %s = nn.dot %qa, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A scale of the scores or of a factor goes into the op, multiplied or divided;
// also one that has to be computed.
// CHECK-LABEL: @takes_constant_scales
func.func @takes_constant_scales(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.250000e-01 : 
  // CHECK: return %[[Y]]
  %c4 = nn.constant dense<4.0> : tensor<1xf32>
  %r = nn.sqrt %c4 : tensor<1xf32>
  %r0 = nn.reshape %r : tensor<1xf32> -> tensor<f32>
  %two = nn.broadcast %r0 [] : tensor<f32> -> tensor<2x3x4x8xf32>
  %half = nn.constant dense<0.5> : tensor<2x3x4x8xf32>
  %eighth = nn.constant dense<8.0> : tensor<2x3x4x4xf32>
  %qs = nn.mul %two, %q : tensor<2x3x4x8xf32>
  %ks = nn.mul %k, %half : tensor<2x3x4x8xf32>
  %s = nn.dot %qs, %ks batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %d = nn.div %s, %eighth : tensor<2x3x4x4xf32>
  %p = nn.softmax %d dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A learned scale is no scale of the op.
// CHECK-LABEL: @learned_scale
func.func @learned_scale(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %t: tensor<f32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %w = nn.broadcast %t [] : tensor<f32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %d = nn.mul %s, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %d dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Keys transposed with the batch as one dimension, as the default exporter does.
// CHECK-LABEL: @flat_keys
func.func @flat_keys(%q: tensor<2x3x4x8xf32>, %b: tensor<2x4x3x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[K:.*]] = nn.transpose %arg1 [0, 2, 1, 3]
  // CHECK: nn.attention %arg0, %[[K]], %arg2 rows 2
  %k = nn.transpose %b [0, 2, 1, 3] : tensor<2x4x3x8xf32> -> tensor<2x3x4x8xf32>
  %k1 = nn.reshape %k : tensor<2x3x4x8xf32> -> tensor<6x4x8xf32>
  %k2 = nn.transpose %k1 [0, 2, 1] : tensor<6x4x8xf32> -> tensor<6x8x4xf32>
  %k3 = nn.reshape %k2 : tensor<6x8x4xf32> -> tensor<2x3x8x4xf32>
  %s = nn.dot %q, %k3 batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x8xf32>, tensor<2x3x8x4xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Keys repeated for groups of heads are read as they were repeated.
// CHECK-LABEL: @reads_repeated_keys
func.func @reads_repeated_keys(%q: tensor<2x3x4x8xf32>, %b: tensor<2x1x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[K:.*]] = nn.broadcast
  // CHECK: nn.attention %arg0, %[[K]], %arg2 rows 2
  %k0 = nn.reshape %b : tensor<2x1x4x8xf32> -> tensor<2x4x8xf32>
  %k = nn.broadcast %k0 [0, 2, 3] : tensor<2x4x8xf32> -> tensor<2x3x4x8xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// The scores' keys may come first.
// CHECK-LABEL: @keys_first
func.func @keys_first(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x8x4xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2
  // CHECK: nn.transpose %[[Y]] [0, 1, 3, 2]
  %s = nn.dot %k, %q batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 2 : tensor<2x3x4x4xf32>
  %y = nn.dot %v, %p batch [0, 1] [0, 1] contract [2] [2] : tensor<2x3x4x8xf32>, tensor<2x3x4x4xf32> -> tensor<2x3x8x4xf32>
  return %y : tensor<2x3x8x4xf32>
}

// Exporters put 0 for the NaN of a row without keys.
// CHECK-LABEL: @takes_zero_guard
func.func @takes_zero_guard(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 guarded : 
  %z = nn.constant dense<0.0> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %n = nn.is_nan %p : tensor<2x3x4x4xf32> -> tensor<2x3x4x4xi1>
  %g = nn.select %n, %z, %p : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %y = nn.dot %g, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Another number is another program.
// CHECK-LABEL: @guarded_by_one
func.func @guarded_by_one(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %z = nn.constant dense<1.0> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %n = nn.is_nan %p : tensor<2x3x4x4xf32> -> tensor<2x3x4x4xi1>
  %g = nn.select %n, %z, %p : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %y = nn.dot %g, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Probabilities that are used elsewhere have to be made.
// CHECK-LABEL: @used_probabilities
func.func @used_probabilities(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4x4xf32>) {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y, %p : tensor<2x3x4x8xf32>, tensor<2x3x4x4xf32>
}

// So have scores.
// CHECK-LABEL: @used_scores
func.func @used_scores(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x3x4x4xf32>) {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y, %s : tensor<2x3x4x8xf32>, tensor<2x3x4x4xf32>
}

// Dropout of probabilities is in the way.
// CHECK-LABEL: @keeps_dropout_of_probabilities
func.func @keeps_dropout_of_probabilities(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %c: tensor<2x3x4x4xi1>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %z = nn.constant dense<0.0> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf32>
  %g = nn.select %c, %p, %z : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %y = nn.dot %g, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A softmax over what is not summed over is none of attention.
// CHECK-LABEL: @other_softmax
func.func @other_softmax(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %p = nn.softmax %s dim 2 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// The op has f32 and f64.
// CHECK-LABEL: @keeps_half_precision
func.func @keeps_half_precision(%q: tensor<2x3x4x8xf16>, %k: tensor<2x3x4x8xf16>, %v: tensor<2x3x4x8xf16>) -> tensor<2x3x4x8xf16> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf16>, tensor<2x3x4x8xf16> -> tensor<2x3x4x4xf16>
  %p = nn.softmax %s dim 3 : tensor<2x3x4x4xf16>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf16>, tensor<2x3x4x8xf16> -> tensor<2x3x4x8xf16>
  return %y : tensor<2x3x4x8xf16>
}

// Nothing is formed of nothing.
// CHECK-LABEL: @no_keys
func.func @no_keys(%q: tensor<3x8xf32>, %k: tensor<0x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k contract [1] [1] : tensor<3x8xf32>, tensor<0x8xf32> -> tensor<3x0xf32>
  %p = nn.softmax %s dim 1 : tensor<3x0xf32>
  %y = nn.dot %p, %k contract [1] [0] : tensor<3x0xf32>, tensor<0x8xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// A factor that is no number stays one.
// CHECK-LABEL: @infinite_scale
func.func @infinite_scale(%q: tensor<3x8xf32>, %k: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // CHECK: %[[Q:.*]] = nn.mul
  // CHECK: nn.attention %[[Q]], %arg1, %arg1 rows 0 scale 1.000000e+00
  %i = nn.constant dense<0x7F800000> : tensor<3x8xf32>
  %t = nn.mul %q, %i : tensor<3x8xf32>
  %s = nn.dot %t, %k contract [1] [1] : tensor<3x8xf32>, tensor<3x8xf32> -> tensor<3x3xf32>
  %p = nn.softmax %s dim 1 : tensor<3x3xf32>
  %y = nn.dot %p, %k contract [1] [0] : tensor<3x3xf32>, tensor<3x8xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// More queries than keys are never causal.
// CHECK-LABEL: @more_queries
func.func @more_queries(%q: tensor<3x8xf32>, %k: tensor<2x8xf32>) -> tensor<3x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg1 mask %{{.*}} [0, 1] rows 0 scale 1.000000e+00 : 
  %m = nn.constant dense<[[0.0, 0xFF800000], [0.0, 0.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %s = nn.dot %q, %k contract [1] [1] : tensor<3x8xf32>, tensor<2x8xf32> -> tensor<3x2xf32>
  %t = nn.add %s, %m : tensor<3x2xf32>
  %p = nn.softmax %t dim 1 : tensor<3x2xf32>
  %y = nn.dot %p, %k contract [1] [0] : tensor<3x2xf32>, tensor<2x8xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// With more keys than queries, the last query sees the last key.
// CHECK-LABEL: @more_keys
func.func @more_keys(%q: tensor<2x8xf32>, %k: tensor<3x8xf32>) -> tensor<2x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg1 rows 0 scale 1.000000e+00 causal : 
  %m = nn.constant dense<[[0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %s = nn.dot %q, %k contract [1] [1] : tensor<2x8xf32>, tensor<3x8xf32> -> tensor<2x3xf32>
  %t = nn.add %s, %m : tensor<2x3xf32>
  %p = nn.softmax %t dim 1 : tensor<2x3xf32>
  %y = nn.dot %p, %k contract [1] [0] : tensor<2x3xf32>, tensor<3x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// A mask that is trained needs a gradient.
// CHECK-LABEL: module @keeps_trained_mask
module @keeps_trained_mask {
func.func @step(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x3x4x4xf32> {nn.arg = #nn.arg<parameter "bias">}) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %m : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}
}

// -----

// One that is not does not.
// CHECK-LABEL: module @forms_with_input_mask
module @forms_with_input_mask {
func.func @step(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x3x4x4xf32> {nn.arg = #nn.arg<input "bias">}) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %m : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}
}

// -----

// Nothing is trained where nothing has a gradient.
// CHECK-LABEL: @forms_with_parameter_outside_training
func.func @forms_with_parameter_outside_training(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x3x4x4xf32> {nn.arg = #nn.arg<parameter "bias">}) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %m : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// -----

// Constants too large for the program are arguments.
nn.variable @tril = dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
// CHECK-LABEL: @reads_causal_mask_of_variable
func.func @reads_causal_mask_of_variable(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<4x4xf32> {nn.arg = #nn.arg<constant "tril">}) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 causal : 
  %w = nn.broadcast %m [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// -----

// A guarded softmax that stays one: rows without keys get other scores, so that
// their gradient is 0 too.
// CHECK-LABEL: module @hides_rows_without_keys
module @hides_rows_without_keys {
func.func @step(%q: tensor<3x4x8xf32> {nn.arg = #nn.arg<parameter "q">}, %k: tensor<3x4x8xf32> {nn.arg = #nn.arg<input "k">},
                %m: tensor<3x4x4xf32> {nn.arg = #nn.arg<input "m">}) -> (tensor<3x4x4xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK-DAG: %[[Z:.*]] = nn.constant dense<0.000000e+00> : tensor<3x4x4xf32>
  // CHECK: %[[S:.*]] = nn.add
  // CHECK: %[[L:.*]] = nn.reduce max %[[S]] [2]
  // CHECK: %[[C:.*]] = nn.compare eq %[[L]]
  // CHECK: %[[E:.*]] = nn.broadcast %[[C]]
  // CHECK: %[[T:.*]] = nn.select %[[E]], %[[Z]], %[[S]]
  // CHECK: %[[P:.*]] = nn.softmax %[[T]] dim 2
  // CHECK: %[[G:.*]] = nn.select %{{.*}}, %[[Z]], %[[P]]
  // CHECK: %[[R:.*]] = nn.select %[[E]], %[[Z]], %[[G]]
  // CHECK: nn.mul %[[R]], %[[R]]
  %z = nn.constant dense<0.0> : tensor<3x4x4xf32>
  %d = nn.dot %q, %k batch [0] [0] contract [2] [2] : tensor<3x4x8xf32>, tensor<3x4x8xf32> -> tensor<3x4x4xf32>
  %s = nn.add %d, %m : tensor<3x4x4xf32>
  %p = nn.softmax %s dim 2 : tensor<3x4x4xf32>
  %n = nn.is_nan %p : tensor<3x4x4xf32> -> tensor<3x4x4xi1>
  %g = nn.select %n, %z, %p : tensor<3x4x4xi1>, tensor<3x4x4xf32>
  %y = nn.mul %g, %g : tensor<3x4x4xf32>
  return %y : tensor<3x4x4xf32>
}
}
