// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// The random ops print what they parse.
// CHECK-LABEL: @random_ops_round_trip
func.func @random_ops_round_trip(%seed: tensor<i64>, %step: tensor<i64>, %i: tensor<4x2xi64>, %x: tensor<4x8xf32>) {
  // CHECK: nn.random_uniform %{{.*}}, %{{.*}}, %{{.*}} {ordinal = 3 : i64} : tensor<4x2xi64> -> tensor<4x2xf32>
  %0 = nn.random_uniform %seed, %step, %i {ordinal = 3 : i64} : tensor<4x2xi64> -> tensor<4x2xf32>
  // CHECK: nn.dropout %{{.*}} {ordinal = 3 : i64, ratio = 1.000000e-01 : f64} : tensor<4x8xf32>
  %1, %2 = nn.dropout %x {ordinal = 3 : i64, ratio = 1.000000e-01 : f64} : tensor<4x8xf32>
  // CHECK: nn.draw_uniform {ordinal = 4 : i64} : tensor<4x8xf32>
  %3 = nn.draw_uniform {ordinal = 4 : i64} : tensor<4x8xf32>
  // CHECK: nn.draw_normal {ordinal = 5 : i64} : tensor<f64>
  %4 = nn.draw_normal {ordinal = 5 : i64} : tensor<f64>
  return
}
