// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(dpc-round-lookups))' | FileCheck %s

// Of a parameter that a product reads narrow, rows that are taken are rounded too.
// CHECK-LABEL: func.func @rounds_rows_of_narrow_parameter
// CHECK-SAME: %[[T:.*]]: tensor<9x8xf32>
// CHECK: %[[R:.*]] = nn.gather %[[T]], %{{.*}} dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
// CHECK-NEXT: %[[N:.*]] = nn.convert %[[R]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-NEXT: %[[W:.*]] = nn.convert %[[N]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK-NEXT: nn.tanh %[[W]]
// CHECK-NEXT: nn.convert %[[T]]
func.func @rounds_rows_of_narrow_parameter(%table: tensor<9x8xf32> {nn.arg = #nn.arg<parameter "table">}, %ids: tensor<4xi64>)
    -> (tensor<4x8xf32>, tensor<9x8xbf16>) {
  %x = nn.gather %table, %ids dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %h = nn.tanh %x : tensor<4x8xf32>
  %n = nn.convert %table : tensor<9x8xf32> -> tensor<9x8xbf16>
  return %h, %n : tensor<4x8xf32>, tensor<9x8xbf16>
}

// -----

// Not of one that nothing reads narrow, and not of what is no parameter.
// CHECK-LABEL: func.func @keeps_rows_of_wide_tables
// CHECK-NOT: tensor<4x8xbf16>
func.func @keeps_rows_of_wide_tables(%table: tensor<9x8xf32> {nn.arg = #nn.arg<parameter "table">}, %ids: tensor<4xi64>, %other: tensor<9x8xf32>)
    -> (tensor<4x8xf32>, tensor<9x8xbf16>) {
  %x = nn.gather %table, %ids dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %y = nn.gather %other, %ids dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %s = nn.add %x, %y : tensor<4x8xf32>
  %n = nn.convert %other : tensor<9x8xf32> -> tensor<9x8xbf16>
  return %s, %n : tensor<4x8xf32>, tensor<9x8xbf16>
}

// -----

// Nor of one that products read in two types.
// CHECK-LABEL: func.func @keeps_rows_of_two_types
// CHECK-NOT: nn.convert %{{.*}} : tensor<4x8xf32>
func.func @keeps_rows_of_two_types(%table: tensor<9x8xf32> {nn.arg = #nn.arg<parameter "table">}, %ids: tensor<4xi64>)
    -> (tensor<4x8xf32>, tensor<9x8xbf16>, tensor<9x8xf16>) {
  %x = nn.gather %table, %ids dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %n = nn.convert %table : tensor<9x8xf32> -> tensor<9x8xbf16>
  %m = nn.convert %table : tensor<9x8xf32> -> tensor<9x8xf16>
  return %x, %n, %m : tensor<4x8xf32>, tensor<9x8xbf16>, tensor<9x8xf16>
}
