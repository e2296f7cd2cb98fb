// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(dpc-record-bounds))' | FileCheck %s

// Labels are classes or the ignored value; tokens are rows of the table, under whatever shape they arrive.
// CHECK-LABEL: @bounds_of_labels_and_tokens
// CHECK-SAME: %{{.*}}: tensor<8xi32> {nn.arg = #nn.arg<label "label">, nn.bounds = array<i64: 0, 9, -100>}
// CHECK-SAME: %{{.*}}: tensor<2x4xi64> {nn.arg = #nn.arg<input "ids">, nn.bounds = array<i64: 0, 6>}
func.func @bounds_of_labels_and_tokens(%x: tensor<8x10xf32> {nn.arg = #nn.arg<input "x">}, %l: tensor<8xi32> {nn.arg = #nn.arg<label "label">},
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
// CHECK-LABEL: @bounds_of_wrapped_and_masked
// CHECK-SAME: #nn.arg<input "wrapped">, nn.bounds = array<i64: -7, 6>}
// CHECK-SAME: #nn.arg<input "masked">, nn.bounds = array<i64: 0, 6, -1>}
func.func @bounds_of_wrapped_and_masked(%w: tensor<8xi64> {nn.arg = #nn.arg<input "wrapped">}, %m: tensor<8xi64> {nn.arg = #nn.arg<input "masked">},
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
// CHECK-LABEL: @uses_narrow_each_other
// CHECK-SAME: #nn.arg<input "two">, nn.bounds = array<i64: 0, 4>}
// CHECK-SAME: #nn.arg<input "computed">}
// CHECK-SAME: #nn.arg<input "chosen">}
func.func @uses_narrow_each_other(%i: tensor<2x1xi64> {nn.arg = #nn.arg<input "two">}, %c: tensor<2xi64> {nn.arg = #nn.arg<input "computed">},
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

// Each component of a tuple has the bounds of its own dimension, also where it counts from that one's end.
// CHECK-LABEL: @bounds_of_tuple_components
// CHECK-SAME: #nn.arg<input "plain">, nn.bounds = [array<i64: 1, 0, 6>, array<i64: 1, 0, 4>, array<i64: 1, 0, 6>, array<i64: 1, 0, 4>, array<i64: 1, 0, 6>, array<i64: 1, 0, 4>]}
// CHECK-SAME: #nn.arg<input "wrapped", batch = 0>, nn.bounds = [array<i64: 1, -7, 6>, array<i64: 1, -5, 4>]}
func.func @bounds_of_tuple_components(%p: tensor<3x2xi64> {nn.arg = #nn.arg<input "plain">}, %w: tensor<3x2xi64> {nn.arg = #nn.arg<input "wrapped", batch = 0>},
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

// -----

// Columns that index different tables have each its own bounds; two uses of a column ask for what both allow; a column that
// indexes nothing may be anything. What is sliced is taken at known indices, reshaped and converted on the way.
// CHECK-LABEL: @bounds_of_columns
// CHECK-SAME: nn.bounds = [array<i64: 1, 0, 3>, array<i64: 1, 0, 6>, array<i64: 1, -9223372036854775808, 9223372036854775807>, array<i64: 1, 0, 2>]}
func.func @bounds_of_columns(%ids: tensor<2x4xi32> {nn.arg = #nn.arg<input "ids", batch = 0>}, %a: tensor<7x2xf32> {nn.arg = #nn.arg<parameter "a">},
                   %b: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "b">}, %c: tensor<3x2xf32> {nn.arg = #nn.arg<parameter "c">})
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %wide = nn.convert %ids : tensor<2x4xi32> -> tensor<2x4xi64>
  %0 = nn.slice %wide starts [0, 0] limits [2, 1] strides [1, 1] : tensor<2x4xi64> -> tensor<2x1xi64>
  %1 = nn.reshape %0 : tensor<2x1xi64> -> tensor<2xi64>
  %2 = nn.gather %b, %1 dim 0 : tensor<4x2xf32>, tensor<2xi64> -> tensor<2x2xf32>
  %3 = nn.slice %wide starts [0, 0] limits [2, 2] strides [1, 1] : tensor<2x4xi64> -> tensor<2x2xi64>
  %4 = nn.transpose %3 [1, 0] : tensor<2x2xi64> -> tensor<2x2xi64>
  %5 = nn.gather %a, %4 dim 0 : tensor<7x2xf32>, tensor<2x2xi64> -> tensor<2x2x2xf32>
  %6 = nn.reduce sum %5 [0] : tensor<2x2x2xf32> -> tensor<2x2xf32>
  %last = nn.constant dense<3> : tensor<i64>
  %7 = nn.gather %wide, %last dim 1 : tensor<2x4xi64>, tensor<i64> -> tensor<2xi64>
  %8 = nn.gather %c, %7 dim 0 : tensor<3x2xf32>, tensor<2xi64> -> tensor<2x2xf32>
  return %2, %6, %8, %8 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Tables that lie end to end: what an offset is added to. Samples that differ have what all of them allow.
// CHECK-LABEL: @offsets_shift_bounds
// CHECK-SAME: #nn.arg<input "ids", batch = 0>, nn.bounds = [array<i64: 1, 0, 11>, array<i64: 1, -5, 6>]}
// CHECK-SAME: #nn.arg<input "rows", batch = 0>, nn.bounds = array<i64: 0, 3>}
func.func @offsets_shift_bounds(%ids: tensor<3x2xi64> {nn.arg = #nn.arg<input "ids", batch = 0>}, %rows: tensor<2xi64> {nn.arg = #nn.arg<input "rows", batch = 0>},
                   %t: tensor<12x2xf32> {nn.arg = #nn.arg<parameter "t">}, %u: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "u">})
    -> (tensor<3x2x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %each = nn.constant dense<[0, 5]> : tensor<2xi64>
  %first = nn.broadcast %each [1] : tensor<2xi64> -> tensor<3x2xi64>
  %0 = nn.add %first, %ids : tensor<3x2xi64>
  %1 = nn.gather %t, %0 dim 0 : tensor<12x2xf32>, tensor<3x2xi64> -> tensor<3x2x2xf32>
  %2 = nn.slice %rows starts [0] limits [1] strides [1] : tensor<2xi64> -> tensor<1xi64>
  %3 = nn.gather %t, %2 dim 0 : tensor<12x2xf32>, tensor<1xi64> -> tensor<1x2xf32>
  %4 = nn.slice %rows starts [1] limits [2] strides [1] : tensor<2xi64> -> tensor<1xi64>
  %5 = nn.gather %u, %4 dim 0 : tensor<4x2xf32>, tensor<1xi64> -> tensor<1x2xf32>
  return %1, %3, %5 : tensor<3x2x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

// -----

// Padding brings a value of its own; concatenation gives each part its place.
// CHECK-LABEL: @bounds_of_padded_parts
// CHECK-SAME: #nn.arg<input "x">, nn.bounds = array<i64: 0, 4>}
// CHECK-SAME: #nn.arg<input "y">, nn.bounds = [array<i64: 1, 0, 4>, array<i64: 1, 0, 1>]}
func.func @bounds_of_padded_parts(%x: tensor<1xi64> {nn.arg = #nn.arg<input "x">}, %y: tensor<2xi64> {nn.arg = #nn.arg<input "y">},
                 %t: tensor<5x2xf32> {nn.arg = #nn.arg<parameter "t">}, %u: tensor<2x2xf32> {nn.arg = #nn.arg<parameter "u">})
    -> (tensor<2x2xf32>, tensor<3x2xf32>) {
  %zero = nn.constant dense<0> : tensor<i64>
  %0 = nn.concat %x, %y dim 0 : tensor<1xi64>, tensor<2xi64> -> tensor<3xi64>
  %1 = nn.slice %0 starts [0] limits [2] strides [1] : tensor<3xi64> -> tensor<2xi64>
  %2 = nn.gather %t, %1 dim 0 : tensor<5x2xf32>, tensor<2xi64> -> tensor<2x2xf32>
  %3 = nn.slice %0 starts [2] limits [3] strides [1] : tensor<3xi64> -> tensor<1xi64>
  %4 = nn.pad %3, %zero low [1] high [1] interior [0] : tensor<1xi64>, tensor<i64> -> tensor<3xi64>
  %5 = nn.gather %u, %4 dim 0 : tensor<2x2xf32>, tensor<3xi64> -> tensor<3x2xf32>
  return %2, %5 : tensor<2x2xf32>, tensor<3x2xf32>
}
