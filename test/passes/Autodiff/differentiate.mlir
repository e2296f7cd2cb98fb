// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-differentiate | FileCheck %s

// The gradient of each parameter is one more result, in the parameters' order; the other results stay.
// CHECK-LABEL: module @gradients_follow_other_results
// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<2xf32> {nn.result = #nn.result<state "mean">}, tensor<4xf32> {nn.result = #nn.result<gradient "a">}, tensor<4xf32> {nn.result = #nn.result<gradient "b">})
module @gradients_follow_other_results {
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">},
                %m: tensor<2xf32> {nn.arg = #nn.arg<buffer "mean">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<2xf32> {nn.result = #nn.result<state "mean">}) {
  // CHECK: %[[LOSS:[a-zA-Z0-9]+]] = nn.reduce sum
  %0 = nn.mul %a, %b : tensor<4xf32>
  %1 = nn.reduce sum %0 [0] : tensor<4xf32> -> tensor<f32>
  // The walk starts with d loss / d loss = 1.
  // CHECK: %[[ONE:[a-zA-Z0-9]+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[G:[a-zA-Z0-9]+]] = nn.broadcast %[[ONE]] [] : tensor<f32> -> tensor<4xf32>
  // CHECK-DAG: %[[GA:[a-zA-Z0-9]+]] = nn.mul %[[G]], %arg2
  // CHECK-DAG: %[[GB:[a-zA-Z0-9]+]] = nn.mul %[[G]], %arg0
  // CHECK: return %[[LOSS]], %arg1, %[[GA]], %[[GB]]
  return %1, %m : tensor<f32>, tensor<2xf32>
}
}

// -----

// The contributions of several users are added up.
// CHECK-LABEL: module @adds_contributions_of_users
module @adds_contributions_of_users {
func.func @step(%w: tensor<f32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: %[[E:[a-zA-Z0-9]+]] = nn.exp %arg0
  %0 = nn.exp %w : tensor<f32>
  %1 = nn.neg %w : tensor<f32>
  %2 = nn.add %0, %1 : tensor<f32>
  // CHECK: %[[ONE:[a-zA-Z0-9]+]] = nn.constant dense<1.000000e+00>
  // CHECK: %[[N:[a-zA-Z0-9]+]] = nn.neg %[[ONE]]
  // CHECK: %[[M:[a-zA-Z0-9]+]] = nn.mul %[[ONE]], %[[E]]
  // CHECK: %[[SUM:[a-zA-Z0-9]+]] = nn.add %[[N]], %[[M]]
  // CHECK: return %{{.*}}, %[[SUM]]
  return %2 : tensor<f32>
}
}

// -----

// No gradient is computed for what is not a parameter: the input gets none.
// CHECK-LABEL: module @input_has_no_gradient
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<3x4xf32> {nn.result = #nn.result<gradient "w">})
module @input_has_no_gradient {
func.func @step(%w: tensor<3x4xf32> {nn.arg = #nn.arg<parameter "w">},
                %x: tensor<8x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: nn.dot %arg1, %arg0 contract [1] [0]
  // CHECK: nn.dot {{.*}} -> tensor<3x4xf32>
  // CHECK-NOT: nn.dot
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x3xf32>, tensor<3x4xf32> -> tensor<8x4xf32>
  %1 = nn.reduce sum %0 [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
}

// -----

// A parameter that the loss does not depend on has no gradient, and a remark says so; one that it reaches
// only through integers (a comparison, an index) is such a parameter too.
// CHECK-LABEL: module @unreached_parameter_has_no_gradient
// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<4xf32> {nn.result = #nn.result<gradient "w">})
module @unreached_parameter_has_no_gradient {
// expected-remark@+2 {{parameter unused has no path to the loss: it will not change}}
// expected-remark@+1 {{parameter compared has no path to the loss: it will not change}}
func.func @step(%u: tensor<4xf32> {nn.arg = #nn.arg<parameter "unused">},
                %c: tensor<4xf32> {nn.arg = #nn.arg<parameter "compared">},
                %w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.compare lt %c, %w : tensor<4xf32> -> tensor<4xi1>
  %1 = nn.neg %w : tensor<4xf32>
  %2 = nn.select %0, %w, %1 : tensor<4xi1>, tensor<4xf32>
  %3 = nn.reduce sum %2 [0] : tensor<4xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
}

// -----

// What the loss depends on by rounded numbers and signs alone has a gradient of zeros, as in PyTorch: weight decay moves it.
// What is detached has none.
// CHECK-LABEL: module @rounded_parameter_has_zero_gradient
// CHECK-LABEL: func.func @step
// CHECK-SAME: #nn.result<gradient "rounded">}, tensor<4xf32> {nn.result = #nn.result<gradient "w">})
// CHECK: %[[ZEROS:.*]] = nn.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: return %{{.*}}, %[[ZEROS]], %{{.*}} :
module @rounded_parameter_has_zero_gradient {
// expected-remark@+1 {{parameter detached has no path to the loss: it will not change}}
func.func @step(%r: tensor<4xf32> {nn.arg = #nn.arg<parameter "rounded">},
                %d: tensor<4xf32> {nn.arg = #nn.arg<parameter "detached">},
                %w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.round %r : tensor<4xf32>
  %1 = nn.sign %0 : tensor<4xf32>
  %2 = nn.stop_gradient %d : tensor<4xf32>
  %3 = nn.add %1, %2 : tensor<4xf32>
  %4 = nn.mul %3, %w : tensor<4xf32>
  %5 = nn.reduce sum %4 [0] : tensor<4xf32> -> tensor<f32>
  return %5 : tensor<f32>
}
}

// -----

// An op without a gradient is no obstacle off the path: here its result goes to another metric.
// CHECK-LABEL: module @skips_op_off_the_path
// CHECK-LABEL: func.func @step
// CHECK-SAME: #nn.result<gradient "w">
module @skips_op_off_the_path {
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<f32> {nn.result = #nn.result<metric "largest">}) {
  %0 = nn.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
  %1 = nn.update (%w : tensor<4xf32>) scalars () {
  ^bb0(%e: tensor<f32>):
    nn.yield %e : tensor<f32>
  } -> tensor<4xf32>
  %2 = nn.reduce max %1 [0] : tensor<4xf32> -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}
}

// -----

// On the path it is an error that names the op.
module @refuses_op_without_gradient {
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // expected-error@+1 {{lies between a parameter and the loss, but has no gradient}}
  %0 = nn.update (%w : tensor<4xf32>) scalars () {
  ^bb0(%e: tensor<f32>):
    nn.yield %e : tensor<f32>
  } -> tensor<4xf32>
  %1 = nn.reduce sum %0 [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
}

// -----

// A loss of inputs alone leaves nothing to train.
module @refuses_loss_without_parameter {
// expected-error@+1 {{the loss depends on no parameter}}
func.func @step(%w: tensor<f32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<f32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.exp %x : tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// A metric of another name is no loss.
module @refuses_missing_loss {
// expected-error@+1 {{has no metric "loss"}}
func.func @step(%w: tensor<f32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "accuracy">}, tensor<f32> {nn.result = #nn.result<output "loss">}) {
  return %w, %w : tensor<f32>, tensor<f32>
}
}

// -----

// expected-error@+1 {{has no function @step}}
module @refuses_missing_step {
  func.func @forward(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

// What is looked up at the padding index has no gradient; a table without one gets all of it.
// CHECK-LABEL: module @padding_row_has_no_gradient
module @padding_row_has_no_gradient {
func.func @step(%t: tensor<5x2xf32> {nn.arg = #nn.arg<parameter "t">}, %u: tensor<5x2xf32> {nn.arg = #nn.arg<parameter "u">},
                %i: tensor<3xi64> {nn.arg = #nn.arg<input "i">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK-DAG: %[[PAD:[a-zA-Z0-9]+]] = nn.constant dense<4> : tensor<3xi64>
  // CHECK-DAG: %[[IS:[a-zA-Z0-9]+]] = nn.compare eq %arg2, %[[PAD]]
  // CHECK: %[[ALL:[a-zA-Z0-9]+]] = nn.broadcast %[[IS]] [0] : tensor<3xi1> -> tensor<3x2xi1>
  // CHECK: %[[KEPT:[a-zA-Z0-9]+]] = nn.select %[[ALL]], %{{.*}}, %[[G:[a-zA-Z0-9]+]]
  // CHECK: nn.scatter_add %[[KEPT]], %arg2 dim 0
  // CHECK: nn.scatter_add %{{.*}}, %arg2 dim 0
  // CHECK-NOT: nn.select
  %0 = nn.gather %u, %i dim 0 : tensor<5x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  %1 = nn.gather %t, %i dim 0 padding 4 : tensor<5x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  %2 = nn.add %0, %1 : tensor<3x2xf32>
  %3 = nn.exp %2 : tensor<3x2xf32>
  %4 = nn.reduce sum %3 [0, 1] : tensor<3x2xf32> -> tensor<f32>
  return %4 : tensor<f32>
}
}

// -----

// No gradient passes a stop, so what lies behind it needs none; nothing is left of it afterwards.
// CHECK-LABEL: module @stop_ends_gradient
// CHECK-NOT: nn.stop_gradient
// CHECK: %[[SUM:[a-zA-Z0-9]+]] = nn.update
// CHECK: %[[Y:[a-zA-Z0-9]+]] = nn.mul %arg0, %[[SUM]]
// CHECK: %[[DW:[a-zA-Z0-9]+]] = nn.mul %{{.*}}, %[[SUM]]
// CHECK-NOT: nn.mul
// CHECK: return %{{.*}}, %[[DW]]
module @stop_ends_gradient {
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.stop_gradient %w : tensor<4xf32>
  %1 = nn.update (%0 : tensor<4xf32>) scalars () {
  ^bb0(%e: tensor<f32>):
    nn.yield %e : tensor<f32>
  } -> tensor<4xf32>
  %2 = nn.mul %w, %1 : tensor<4xf32>
  %3 = nn.reduce sum %2 [0] : tensor<4xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
}

// -----

// A loss behind a stop moves nothing.
module @refuses_stopped_loss {
// expected-error@+1 {{the loss depends on no parameter}}
func.func @step(%w: tensor<f32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.stop_gradient %w : tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// The gradient of a product that is wider than its factors is rounded to their type, as they were.
// CHECK-LABEL: module @rounds_gradient_of_wide_product
module @rounds_gradient_of_wide_product {
func.func @step(%w: tensor<3x4xf32> {nn.arg = #nn.arg<parameter "w">},
                %x: tensor<8x3xbf16> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: nn.dot {{.*}} -> tensor<8x4xf32>
  // CHECK: %[[G:[a-zA-Z0-9]+]] = nn.convert %{{.*}} : tensor<8x4xf32> -> tensor<8x4xbf16>
  // CHECK: nn.dot %arg1, %[[G]] contract [0] [0] : tensor<8x3xbf16>, tensor<8x4xbf16> -> tensor<3x4xbf16>
  // CHECK: nn.convert {{.*}} -> tensor<3x4xf32>
  %0 = nn.convert %w : tensor<3x4xf32> -> tensor<3x4xbf16>
  %1 = nn.dot %x, %0 contract [1] [0] : tensor<8x3xbf16>, tensor<3x4xbf16> -> tensor<8x4xf32>
  %2 = nn.reduce sum %1 [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
}

// -----

// So is that of a convolution.
// CHECK-LABEL: module @rounds_gradient_of_wide_convolution
module @rounds_gradient_of_wide_convolution {
func.func @step(%w: tensor<5x3x2xf32> {nn.arg = #nn.arg<parameter "w">},
                %x: tensor<2x3x9xf16> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: nn.conv {{.*}} -> tensor<2x5x8xf32>
  // CHECK: %[[G:[a-zA-Z0-9]+]] = nn.convert %{{.*}} : tensor<2x5x8xf32> -> tensor<2x5x8xf16>
  // CHECK: nn.conv_weight_grad %arg1, %[[G]] {{.*}} : tensor<2x3x9xf16>, tensor<2x5x8xf16> -> tensor<5x3x2xf16>
  // CHECK: nn.convert {{.*}} -> tensor<5x3x2xf32>
  %0 = nn.convert %w : tensor<5x3x2xf32> -> tensor<5x3x2xf16>
  %1 = nn.conv %x, %0 strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf16>, tensor<5x3x2xf16> -> tensor<2x5x8xf32>
  %2 = nn.reduce sum %1 [0, 1, 2] : tensor<2x5x8xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
}

// -----

// The sums of an attention of 16-bit rows have gradients in f32, and so has delta; those of the rows are as wide
// as these, and that of a mask as wide as it.
// CHECK-LABEL: module @attention_gradient_sums_are_f32
module @attention_gradient_sums_are_f32 {
func.func @step(%w: tensor<6x8xf32> {nn.arg = #nn.arg<parameter "w">},
                %m: tensor<6xf32> {nn.arg = #nn.arg<parameter "m">},
                %q: tensor<4x8xbf16> {nn.arg = #nn.arg<input "q">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: %[[Y:.*]], %[[L:.*]] = nn.attention
  // CHECK: %[[G:.*]] = nn.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[GW:.*]] = nn.convert %[[G]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[YW:.*]] = nn.convert %[[Y]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[P:.*]] = nn.mul %[[GW]], %[[YW]] : tensor<4x8xf32>
  // CHECK: %[[D:.*]] = nn.reduce sum %[[P]] [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: nn.attention_grad {{.*}} %[[L]], %[[D]], %[[G]] mask
  // CHECK: nn.dot {{.*}} : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
  // CHECK: nn.reduce sum {{.*}} -> tensor<6xf32>
  %k = nn.convert %w : tensor<6x8xf32> -> tensor<6x8xbf16>
  %y, %l = nn.attention %q, %k, %k mask %m [1] rows 0 scale 0.5 : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x8xbf16>, tensor<6xf32> -> tensor<4x8xbf16>, tensor<4xf32>
  %z = nn.convert %y : tensor<4x8xbf16> -> tensor<4x8xf32>
  %1 = nn.reduce sum %z [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
}

// -----

// All of the gradient goes to the first of equal elements in row-major order: the position of each that equals the
// result, the least of them by a reduction, which devices that have parts of it agree on.
// CHECK-LABEL: module @first_maximum_takes_gradient
module @first_maximum_takes_gradient {
func.func @step(%w: tensor<3x2x4xf32> {nn.arg = #nn.arg<parameter "w">}, %v: tensor<2xf32> {nn.arg = #nn.arg<buffer "v">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: %[[MAX:.*]] = nn.reduce max %arg0 [0, 2]
  %0 = nn.reduce max %w [0, 2] {first} : tensor<3x2x4xf32> -> tensor<2xf32>
  %1 = nn.mul %0, %v : tensor<2xf32>
  %2 = nn.reduce sum %1 [0] : tensor<2xf32> -> tensor<f32>
  // CHECK: %[[G:.*]] = nn.mul %{{.*}}, %arg1
  // CHECK: %[[WIDE:.*]] = nn.broadcast %[[MAX]] [1]
  // CHECK: %[[HIT:.*]] = nn.compare eq %arg0, %[[WIDE]]
  // CHECK: %[[INNER:.*]] = nn.iota dim 2 : tensor<3x2x4xi32>
  // CHECK: %[[OUTER:.*]] = nn.iota dim 0 : tensor<3x2x4xi32>
  // CHECK: %[[STEP:.*]] = nn.constant dense<4> : tensor<3x2x4xi32>
  // CHECK: %[[START:.*]] = nn.mul %[[OUTER]], %[[STEP]]
  // CHECK: %[[AT:.*]] = nn.add %[[INNER]], %[[START]]
  // CHECK: %[[NOWHERE:.*]] = nn.constant dense<12> : tensor<3x2x4xi32>
  // CHECK: %[[PLACES:.*]] = nn.select %[[HIT]], %[[AT]], %[[NOWHERE]]
  // CHECK: %[[LEAST:.*]] = nn.reduce min %[[PLACES]] [0, 2] : tensor<3x2x4xi32> -> tensor<2xi32>
  // CHECK: %[[FIRST:.*]] = nn.broadcast %[[LEAST]] [1]
  // CHECK: %[[CHOSEN:.*]] = nn.compare eq %[[AT]], %[[FIRST]]
  // CHECK: nn.select %[[CHOSEN]]
  return %2 : tensor<f32>
}
}

// -----

// A factor per row of a normalization's gradient is taken out of the sums, so that these are the sums
// that the gradients of scale and shift need.
// CHECK-LABEL: module @row_factor
module @row_factor {
func.func @step(%w: tensor<4x3x5xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<3xf32> {nn.arg = #nn.arg<buffer "s">}, %x: tensor<4x3x5xf32> {nn.arg = #nn.arg<buffer "x">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %y, %m, %v = nn.normalize %w [0, 2] epsilon 0.1 : tensor<4x3x5xf32> -> tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>
  %0 = nn.broadcast %s [1] : tensor<3xf32> -> tensor<4x3x5xf32>
  %1 = nn.mul %y, %0 : tensor<4x3x5xf32>
  %2 = nn.mul %1, %x : tensor<4x3x5xf32>
  %3 = nn.reduce sum %2 [0, 1, 2] : tensor<4x3x5xf32> -> tensor<f32>
  // CHECK: nn.constant dense<1.000000e+00>
  // CHECK: %[[G:.*]] = nn.mul %{{.*}}, %arg2
  // CHECK: nn.reduce sum %[[G]] [0, 2]
  return %3 : tensor<f32>
}
}

// -----

// Two dimensions of the factor are at one dimension of the rows, so the factor stays in the sums.
// CHECK-LABEL: module @row_factor_of_unit_dimensions
module @row_factor_of_unit_dimensions {
func.func @step(%w: tensor<9x1x1xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<1x1xf32> {nn.arg = #nn.arg<buffer "s">}, %x: tensor<9x1x1x1xf32> {nn.arg = #nn.arg<buffer "x">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %y, %m, %v = nn.normalize %w [0] epsilon 0.1 : tensor<9x1x1xf32> -> tensor<9x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  %r = nn.reshape %y : tensor<9x1x1xf32> -> tensor<9x1x1x1xf32>
  %0 = nn.broadcast %s [1, 2] : tensor<1x1xf32> -> tensor<9x1x1x1xf32>
  %1 = nn.mul %r, %0 : tensor<9x1x1x1xf32>
  %2 = nn.mul %1, %x : tensor<9x1x1x1xf32>
  %3 = nn.reduce sum %2 [0, 1, 2, 3] : tensor<9x1x1x1xf32> -> tensor<f32>
  // CHECK: nn.constant dense<1.000000e+00>
  // CHECK: %[[D:.*]] = nn.mul %{{.*}}, %arg2
  // CHECK: %[[G:.*]] = nn.mul %[[D]], %{{.*}} : tensor<9x1x1x1xf32>
  // CHECK: %[[H:.*]] = nn.reshape %[[G]] : tensor<9x1x1x1xf32> -> tensor<9x1x1xf32>
  // CHECK: nn.reduce sum %[[H]] [0]
  return %3 : tensor<f32>
}
}
