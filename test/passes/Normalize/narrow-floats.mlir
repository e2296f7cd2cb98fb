// RUN: dpc-opt %s --split-input-file --dpc-narrow-floats=type=bf16 | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-narrow-floats=type=f16 | FileCheck %s --check-prefix=F16
// RUN: not dpc-opt %s --split-input-file --dpc-narrow-floats=type=f8 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: dpc-narrow-floats: unknown type 'f8'; known: bf16, f16

// A product reads narrow factors and gives a narrow result; what is elementwise stays f32.
// CHECK-LABEL: func.func @narrows_product
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>) -> tensor<4x8xf32>
// F16-LABEL: func.func @narrows_product
func.func @narrows_product(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK-DAG: %[[A:.+]] = nn.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK-DAG: %[[B:.+]] = nn.convert %[[W]] : tensor<8x8xf32> -> tensor<8x8xbf16>
  // CHECK: %[[C:.+]] = nn.dot %[[A]], %[[B]] contract [1] [0] : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  // CHECK: %[[Y:.+]] = nn.convert %[[C]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[Z:.+]] = nn.tanh %[[Y]] : tensor<4x8xf32>
  // CHECK: return %[[Z]]
  // F16: nn.dot {{.*}} : tensor<4x8xf16>, tensor<8x8xf16> -> tensor<4x8xf16>
  %y = nn.dot %x, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %z = nn.tanh %y : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

// Wide: norms, softmax, sums and losses have no narrow operands; a sum with what is not a product's stays f32.
// CHECK-LABEL: func.func @keeps_other_ops_wide
// CHECK-NOT: bf16
// F16-LABEL: func.func @keeps_other_ops_wide
func.func @keeps_other_ops_wide(%x: tensor<4x8xf32>, %i: tensor<4xi64>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %n, %m, %v = nn.normalize %x [1] epsilon 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  %s = nn.softmax %n dim 1 : tensor<4x8xf32>
  %t = nn.add %s, %x : tensor<4x8xf32>
  %r = nn.reduce sum %t [1] : tensor<4x8xf32> -> tensor<4xf32>
  %l, %e = nn.cross_entropy %t, %i dim 1 : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>, tensor<4xf32>
  return %t, %r, %l : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What only moves or selects numbers takes the type of what it reads, if all of that is narrow: constants that are
// narrow numbers too.
// CHECK-LABEL: func.func @moves_follow_narrow_operands
// F16-LABEL: func.func @moves_follow_narrow_operands
func.func @moves_follow_narrow_operands(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<4x16xf32>, tensor<4x8xf32>) {
  %y = nn.dot %x, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.relu %{{.*}} : tensor<4x8xbf16>
  %r = nn.relu %y : tensor<4x8xf32>
  // CHECK: nn.transpose %{{.*}} [1, 0] : tensor<4x8xbf16> -> tensor<8x4xbf16>
  %t = nn.transpose %r [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // Half is a bf16 number.
  // CHECK: nn.max %{{.*}} : tensor<4x8xbf16>
  %half = nn.constant dense<0.5> : tensor<4x8xf32>
  %m = nn.max %y, %half : tensor<4x8xf32>
  // CHECK: nn.concat %{{.*}} dim 1 : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x16xbf16>
  %c = nn.concat %m, %y dim 1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x16xf32>
  // Of what is not narrow, or a number that is not, none.
  // CHECK: nn.max %{{.*}} : tensor<4x8xf32>
  %tenth = nn.constant dense<0.1> : tensor<4x8xf32>
  %n = nn.max %y, %tenth : tensor<4x8xf32>
  // CHECK: nn.max %{{.*}} : tensor<4x8xf32>
  %o = nn.max %n, %x : tensor<4x8xf32>
  return %t, %c, %o : tensor<8x4xf32>, tensor<4x16xf32>, tensor<4x8xf32>
}

// -----

// A weight is narrowed before it is transposed, so that the product can take that in. What another op reads in f32
// too, or is larger than what is moved out of it, stays f32.
// CHECK-LABEL: func.func @narrows_weight_before_transpose
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// F16-LABEL: func.func @narrows_weight_before_transpose
func.func @narrows_weight_before_transpose(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<2x8xf32>) {
  // CHECK: %[[N:.+]] = nn.convert %[[W]] : tensor<8x8xf32> -> tensor<8x8xbf16>
  // CHECK: %[[T:.+]] = nn.transpose %[[N]] [1, 0] : tensor<8x8xbf16> -> tensor<8x8xbf16>
  // CHECK: nn.dot %{{.*}}, %[[T]]
  %t = nn.transpose %w [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = nn.dot %x, %t contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.transpose %[[X]] [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %u = nn.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: nn.slice %[[X]] {{.*}} : tensor<4x8xf32> -> tensor<2x8xf32>
  %s = nn.slice %x starts [0, 0] limits [2, 8] strides [1, 1] : tensor<4x8xf32> -> tensor<2x8xf32>
  %z = nn.dot %u, %x contract [0] [1] : tensor<8x4xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %v = nn.dot %s, %w contract [1] [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %y, %u, %v : tensor<4x8xf32>, tensor<8x4xf32>, tensor<2x8xf32>
}

// -----

// Parts of one value that are all read narrow are parts of one narrow value.
// CHECK-LABEL: func.func @narrows_all_parts
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// F16-LABEL: func.func @narrows_all_parts
func.func @narrows_all_parts(%x: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NOT: nn.slice {{.*}}f32
  // CHECK: nn.slice %{{.*}} starts [0, 0] {{.*}} : tensor<4x8xbf16> -> tensor<4x4xbf16>
  // CHECK: nn.slice %{{.*}} starts [0, 4] {{.*}} : tensor<4x8xbf16> -> tensor<4x4xbf16>
  %a = nn.slice %x starts [0, 0] limits [4, 4] strides [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %b = nn.slice %x starts [0, 4] limits [4, 8] strides [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %c = nn.dot %a, %b contract [1] [1] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %d = nn.dot %b, %a contract [0] [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Constants are narrow constants, rounded to nearest.
// CHECK-LABEL: func.func @rounds_constants
// F16-LABEL: func.func @rounds_constants
func.func @rounds_constants(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK-DAG: nn.constant dense<{{\[\[}}1.000980e-01, 1.000000e+00], [-2.000000e+00, 3.000000e+00]]> : tensor<2x2xbf16>
  %w = nn.constant dense<[[0.1, 1.0], [-2.0, 3.0]]> : tensor<2x2xf32>
  %y = nn.dot %x, %w contract [1] [0] : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Attention's q, k and v are narrow; its mask, its result and its sums of exponentials are not.
// CHECK-LABEL: func.func @narrows_attention_operands
// F16-LABEL: func.func @narrows_attention_operands
func.func @narrows_attention_operands(%q: tensor<2x4x8xf32>, %m: tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>) {
  // CHECK: nn.attention {{.*}} : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<4xf32> -> tensor<2x4x8xf32>, tensor<2x4xf32>
  %y, %l = nn.attention %q, %q, %q mask %m [2] rows 1 scale 0.5
      : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<4xf32> -> tensor<2x4x8xf32>, tensor<2x4xf32>
  return %y, %l : tensor<2x4x8xf32>, tensor<2x4xf32>
}

// -----

// Parts of a model that have another type are left alone.
// CHECK-LABEL: func.func @keeps_other_types
// CHECK: nn.dot {{.*}} : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
// F16-LABEL: func.func @keeps_other_types
func.func @keeps_other_types(%x: tensor<4x8xf64>, %w: tensor<8x8xf64>) -> tensor<4x8xf64> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// -----

// Positions are not rounded: a product stays f32 where one factor is made of integers alone. What is computed with
// weights in between, or of random numbers, is no position, nor are samples of 8 bits.
// CHECK-LABEL: func.func @keeps_products_of_positions
// F16-LABEL: func.func @keeps_products_of_positions
func.func @keeps_products_of_positions(%ids: tensor<4x2xi64> {nn.arg = #nn.arg<input "positions", batch = 0>},
                     %table: tensor<2x8xf32> {nn.arg = #nn.arg<buffer "frequencies">},
                     %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">},
                     %pixels: tensor<4x2xui8> {nn.arg = #nn.arg<input "pixels", batch = 0>},
                     %seed: tensor<i64> {nn.arg = #nn.arg<control "seed">},
                     %step: tensor<i64> {nn.arg = #nn.arg<control "step">})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: nn.dot {{.*}} : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  // F16: nn.dot {{.*}} : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %f = nn.convert %ids : tensor<4x2xi64> -> tensor<4x2xf32>
  %a = nn.dot %f, %table contract [1] [0] : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  // Of what is computed of them too, and of an arange.
  // CHECK: nn.dot {{.*}} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %n = nn.iota dim 1 : tensor<4x8xi64>
  %g = nn.convert %n : tensor<4x8xi64> -> tensor<4x8xf32>
  %c = nn.cos %g : tensor<4x8xf32>
  %b = nn.dot %c, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  %h = nn.add %g, %a : tensor<4x8xf32>
  %d = nn.dot %h, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  %r = nn.random_uniform %seed, %step, %n {ordinal = 0 : i64} : tensor<4x8xi64> -> tensor<4x8xf32>
  %e = nn.dot %r, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x2xbf16>, tensor<2x8xbf16>
  %p = nn.convert %pixels : tensor<4x2xui8> -> tensor<4x2xf32>
  %i = nn.dot %p, %table contract [1] [0] : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  return %a, %b, %d, %e, %i : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Truth values are exact in any type, moved too; sums of them are numbers.
// CHECK-LABEL: func.func @narrows_truth_values
// F16-LABEL: func.func @narrows_truth_values
func.func @narrows_truth_values(%ids: tensor<4xi64> {nn.arg = #nn.arg<input "ids", batch = 0>},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = nn.iota dim 1 : tensor<4x8xi64>
  %b = nn.broadcast %ids [0] : tensor<4xi64> -> tensor<4x8xi64>
  %c = nn.compare eq %n, %b : tensor<4x8xi64> -> tensor<4x8xi1>
  %f = nn.convert %c : tensor<4x8xi1> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  %x = nn.dot %f, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  %one = nn.constant dense<1.0> : tensor<4x8xf32>
  %zero = nn.constant dense<0.0> : tensor<4x8xf32>
  %s = nn.select %c, %one, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %y = nn.dot %s, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: nn.dot {{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
  %t = nn.add %f, %s : tensor<4x8xf32>
  %z = nn.dot %t, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %x, %y, %z : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What is no sum stays f32, be it a contraction of extent 1, of none, or a convolution of one weight an element; so does
// a product of constants.
// CHECK-LABEL: func.func @keeps_products_without_sums
// CHECK-NOT: bf16
// F16-LABEL: func.func @keeps_products_without_sums
// F16-NOT: xf16
func.func @keeps_products_without_sums(%x: tensor<4x1xf32>, %w: tensor<1x8xf32>, %i: tensor<2x3x4x4xf32>, %k: tensor<3x1x1x1xf32>)
    -> (tensor<4x8xf32>, tensor<4x1x1x8xf32>, tensor<2x3x4x4xf32>, tensor<2x2xf32>) {
  %a = nn.dot %x, %w contract [1] [0] : tensor<4x1xf32>, tensor<1x8xf32> -> tensor<4x8xf32>
  %b = nn.dot %x, %w contract [] [] : tensor<4x1xf32>, tensor<1x8xf32> -> tensor<4x1x1x8xf32>
  %c = nn.conv %i, %k strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 3
      : tensor<2x3x4x4xf32>, tensor<3x1x1x1xf32> -> tensor<2x3x4x4xf32>
  %p = nn.constant dense<[[0.1, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %d = nn.dot %p, %p contract [1] [0] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x1x1x8xf32>, tensor<2x3x4x4xf32>, tensor<2x2xf32>
}

// -----

// The sum of a product and a bias is rounded: it is the result of the layer.
// CHECK-LABEL: func.func @rounds_sum_with_bias
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x6xf32>, %[[B:[a-z0-9]+]]: tensor<6xf32>
// F16-LABEL: func.func @rounds_sum_with_bias
func.func @rounds_sum_with_bias(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> (tensor<2x2x6xf32>, tensor<2x2x6xf32>) {
  // CHECK: nn.dot
  // CHECK: %[[BB:.+]] = nn.broadcast %[[B]] [2]
  // CHECK: %[[S:.+]] = nn.add %[[BB]], %{{.+}} : tensor<2x2x6xf32>
  // CHECK: %[[N:.+]] = nn.convert %[[S]] : tensor<2x2x6xf32> -> tensor<2x2x6xbf16>
  // CHECK: %[[R:.+]] = nn.convert %[[N]] : tensor<2x2x6xbf16> -> tensor<2x2x6xf32>
  // CHECK: nn.exp %[[R]]
  // F16: nn.convert %{{.+}} : tensor<2x2x6xf32> -> tensor<2x2x6xf16>
  %y = nn.dot %x, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %r = nn.reshape %y : tensor<4x6xf32> -> tensor<2x2x6xf32>
  %c = nn.broadcast %b [2] : tensor<6xf32> -> tensor<2x2x6xf32>
  %s = nn.add %c, %r : tensor<2x2x6xf32>
  %e = nn.exp %s : tensor<2x2x6xf32>
  return %s, %e : tensor<2x2x6xf32>, tensor<2x2x6xf32>
}

// -----

// Other sums stay f32: of a product and a tensor of its shape, of a product with two readers, of no product, and of several products.
// CHECK-LABEL: func.func @keeps_other_sums
// CHECK-NOT: nn.convert %{{.+}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: nn.dot
// CHECK-NOT: nn.convert %{{.+}} : tensor<4x6xf32> -> tensor<4x6xbf16>
// CHECK: return
func.func @keeps_other_sums(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>, %b: tensor<6xf32>, %z: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %n = nn.dot %x, %w contract [1] [0] : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xbf16>
  %y = nn.convert %n : tensor<4x6xbf16> -> tensor<4x6xf32>
  %c = nn.broadcast %b [1] : tensor<6xf32> -> tensor<4x6xf32>
  %s = nn.add %y, %z : tensor<4x6xf32>
  %t = nn.add %y, %c : tensor<4x6xf32>
  %e = nn.exp %t : tensor<4x6xf32>
  %u = nn.add %e, %c : tensor<4x6xf32>
  %p = nn.dot %x, %w contract [1] [0] : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xbf16>
  %q = nn.convert %p : tensor<4x6xbf16> -> tensor<4x6xf32>
  %f = nn.add %q, %c : tensor<4x6xf32>
  %g = nn.add %f, %y : tensor<4x6xf32>
  %h = nn.add %g, %u : tensor<4x6xf32>
  return %s, %t, %h : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
