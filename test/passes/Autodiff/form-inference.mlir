// RUN: split-file %s %t
// RUN: dpc-opt %t/modes.mlir --dpc-form-inference | FileCheck %t/modes.mlir
// RUN: not dpc-opt %t/nothing.mlir --dpc-form-inference 2>&1 | FileCheck %s --check-prefix=FORWARD
// RUN: not dpc-opt %t/no-output.mlir --dpc-form-inference 2>&1 | FileCheck %s --check-prefix=OUTPUT

// FORWARD: error: has no function @forward
// OUTPUT: error: has no output

//--- modes.mlir
// Statistics are read, not moved; dropout is the identity; all outputs stay, in their order.
// CHECK-NOT: @forward
// CHECK: func.func @infer(%[[X:[a-zA-Z0-9]+]]: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}
// CHECK-SAME: -> (tensor<8x4xf32> {nn.result = #nn.result<output "y">}, tensor<8x4xf32> {nn.result = #nn.result<output "x">}) {
// CHECK-NOT: nn.batch_norm
// CHECK-NOT: nn.dropout
// CHECK-NOT: nn.normalize
// CHECK-NOT: nn.stop_gradient
// CHECK: return %{{.*}}, %[[X]] :
module @forms_modes_of_inference {
func.func @forward(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                   %s: tensor<4xf32> {nn.arg = #nn.arg<parameter "scale">},
                   %m: tensor<4xf32> {nn.arg = #nn.arg<buffer "mean">},
                   %v: tensor<4xf32> {nn.arg = #nn.arg<buffer "var">})
    -> (tensor<8x4xf32> {nn.result = #nn.result<output "y">}, tensor<8x4xf32> {nn.result = #nn.result<output "x">},
        tensor<4xf32> {nn.result = #nn.result<state "mean">}, tensor<4xf32> {nn.result = #nn.result<state "var">}) {
  %y, %m1, %v1 = nn.batch_norm %x, %s, %s, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<8x4xf32>, tensor<4xf32>
  %d, %mask = nn.dropout %y {ratio = 0.5 : f64, ordinal = 3 : i64} : tensor<8x4xf32>
  %t = nn.stop_gradient %d : tensor<8x4xf32>
  return %t, %x, %m1, %v1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}
}

//--- nothing.mlir
func.func @refuses_missing_forward() {
  return
}

//--- no-output.mlir
module @refuses_missing_output {
func.func @forward() {
  return
}
}
