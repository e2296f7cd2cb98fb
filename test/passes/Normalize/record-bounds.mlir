// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(dpc-record-bounds))' | FileCheck %s

// Labels are classes or the ignored value; tokens are rows of the table, under whatever shape they arrive.
// CHECK-LABEL: @classes
// CHECK-SAME: %{{.*}}: tensor<8xi32> {nn.arg = #nn.arg<label "label">, nn.bounds = array<i64: 0, 9, -100>}
// CHECK-SAME: %{{.*}}: tensor<2x4xi64> {nn.arg = #nn.arg<input "ids">, nn.bounds = array<i64: 0, 6>}
func.func @classes(%x: tensor<8x10xf32> {nn.arg = #nn.arg<input "x">}, %l: tensor<8xi32> {nn.arg = #nn.arg<label "label">},
                   %ids: tensor<2x4xi64> {nn.arg = #nn.arg<input "ids">}, %t: tensor<7x3xf32> {nn.arg = #nn.arg<parameter "t">})
    -> (tensor<8xf32>, tensor<8x3xf32>) {
  %0 = nn.convert %l : tensor<8xi32> -> tensor<8xi64>
  %loss, %lse = nn.cross_entropy %x, %0 dim 1 : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  %1 = nn.reshape %ids : tensor<2x4xi64> -> tensor<8xi64>
  %2 = nn.gather %t, %1 dim 0 : tensor<7x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  return %loss, %2 : tensor<8xf32>, tensor<8x3xf32>
}

// -----

// Negative indices count from the end; a replaced value may be anything the rest allows.
// CHECK-LABEL: @selects
// CHECK-SAME: #nn.arg<input "wrapped">, nn.bounds = array<i64: -7, 6>}
// CHECK-SAME: #nn.arg<input "masked">, nn.bounds = array<i64: 0, 6, -1>}
func.func @selects(%w: tensor<8xi64> {nn.arg = #nn.arg<input "wrapped">}, %m: tensor<8xi64> {nn.arg = #nn.arg<input "masked">},
                   %t: tensor<7x3xf32> {nn.arg = #nn.arg<parameter "t">}) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %zero = nn.constant dense<0> : tensor<8xi64>
  %seven = nn.constant dense<7> : tensor<8xi64>
  %none = nn.constant dense<-1> : tensor<8xi64>
  %0 = nn.add %w, %seven : tensor<8xi64>
  %1 = nn.compare lt %w, %zero : tensor<8xi64> -> tensor<8xi1>
  %2 = nn.select %1, %0, %w : tensor<8xi1>, tensor<8xi64>
  %3 = nn.gather %t, %2 dim 0 : tensor<7x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  %4 = nn.compare eq %m, %none : tensor<8xi64> -> tensor<8xi1>
  %5 = nn.select %4, %zero, %m : tensor<8xi1>, tensor<8xi64>
  %6 = nn.gather %t, %5 dim 0 : tensor<7x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
  return %3, %6 : tensor<8x3xf32>, tensor<8x3xf32>
}

// -----

// Two uses ask for what both allow. A use that computes asks nothing, nor does an input chosen by another's value.
// CHECK-LABEL: @both
// CHECK-SAME: #nn.arg<input "two">, nn.bounds = array<i64: 0, 4>}
// CHECK-SAME: #nn.arg<input "computed">}
// CHECK-SAME: #nn.arg<input "chosen">}
func.func @both(%i: tensor<2x1xi64> {nn.arg = #nn.arg<input "two">}, %c: tensor<2xi64> {nn.arg = #nn.arg<input "computed">},
                %d: tensor<2xi64> {nn.arg = #nn.arg<input "chosen">}, %t: tensor<7x5xf32> {nn.arg = #nn.arg<parameter "t">})
    -> (tensor<2x1xf32>, tensor<2x1x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  %u = nn.slice %t starts [0, 0] limits [2, 5] strides [1, 1] : tensor<7x5xf32> -> tensor<2x5xf32>
  %0 = nn.gather_elements %u, %i dim 1 : tensor<2x5xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  %1 = nn.gather %t, %i dim 0 : tensor<7x5xf32>, tensor<2x1xi64> -> tensor<2x1x5xf32>
  %zero = nn.constant dense<0> : tensor<2xi64>
  %2 = nn.mul %c, %c : tensor<2xi64>
  %3 = nn.gather %t, %2 dim 0 : tensor<7x5xf32>, tensor<2xi64> -> tensor<2x5xf32>
  %4 = nn.compare eq %c, %zero : tensor<2xi64> -> tensor<2xi1>
  %5 = nn.select %4, %zero, %d : tensor<2xi1>, tensor<2xi64>
  %6 = nn.gather %t, %5 dim 0 : tensor<7x5xf32>, tensor<2xi64> -> tensor<2x5xf32>
  return %0, %1, %3, %6 : tensor<2x1xf32>, tensor<2x1x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>
}

// -----

// The components of a tuple share the bounds of the widest dimension, also where each counts from its own end.
// CHECK-LABEL: @tuples
// CHECK-SAME: #nn.arg<input "plain">, nn.bounds = array<i64: 0, 6>}
// CHECK-SAME: #nn.arg<input "wrapped">, nn.bounds = array<i64: -7, 6>}
func.func @tuples(%p: tensor<3x2xi64> {nn.arg = #nn.arg<input "plain">}, %w: tensor<3x2xi64> {nn.arg = #nn.arg<input "wrapped">},
                  %t: tensor<7x5xf32> {nn.arg = #nn.arg<parameter "t">}) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = nn.constant dense<0> : tensor<3x2xi64>
  %extents = nn.constant dense<[7, 5]> : tensor<2xi64>
  %0 = nn.gather_nd %t, %p : tensor<7x5xf32>, tensor<3x2xi64> -> tensor<3xf32>
  %1 = nn.broadcast %extents [1] : tensor<2xi64> -> tensor<3x2xi64>
  %2 = nn.add %w, %1 : tensor<3x2xi64>
  %3 = nn.compare lt %w, %zero : tensor<3x2xi64> -> tensor<3x2xi1>
  %4 = nn.select %3, %2, %w : tensor<3x2xi1>, tensor<3x2xi64>
  %5 = nn.gather_nd %t, %4 : tensor<7x5xf32>, tensor<3x2xi64> -> tensor<3xf32>
  return %0, %5 : tensor<3xf32>, tensor<3xf32>
}
