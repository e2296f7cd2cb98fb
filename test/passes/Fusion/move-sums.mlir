// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-move-sums))' | FileCheck %s
// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cpu},func.func(dpc-move-sums))' | FileCheck %s --check-prefix=CPU

// The sum reads what an elementwise op computed, and a conversion moves with it.
// CHECK-LABEL: @computed
// CHECK: %[[E:.*]] = nn.exp
// CHECK: %[[C:.*]] = nn.convert %[[E]] : tensor<4x32x64xbf16> -> tensor<4x32x64xf32>
// CHECK-NEXT: nn.reduce sum %[[C]] [0, 1] : tensor<4x32x64xf32> -> tensor<64xf32>
// CPU-LABEL: @computed
// CPU: nn.reduce sum %{{.*}} [0] : tensor<128x64xf32>
func.func @computed(%x: tensor<4x32x64xbf16>) -> (tensor<128x64xbf16>, tensor<64xf32>) {
  %0 = nn.exp %x : tensor<4x32x64xbf16>
  %1 = nn.reshape %0 : tensor<4x32x64xbf16> -> tensor<128x64xbf16>
  %2 = nn.convert %1 : tensor<128x64xbf16> -> tensor<128x64xf32>
  %3 = nn.reduce sum %2 [0] : tensor<128x64xf32> -> tensor<64xf32>
  return %1, %3 : tensor<128x64xbf16>, tensor<64xf32>
}

// No elementwise op computed the operand, but one reads it in another shape, after the sum. The
// columns are two dimensions there.
// CHECK-LABEL: @read
// CHECK: %[[R:.*]] = nn.reshape %arg0 : tensor<128x64xf32> -> tensor<4x32x2x32xf32>
// CHECK-NEXT: %[[S:.*]] = nn.reduce sum %[[R]] [0, 1] : tensor<4x32x2x32xf32> -> tensor<2x32xf32>
// CHECK-NEXT: %[[T:.*]] = nn.reshape %[[S]] : tensor<2x32xf32> -> tensor<64xf32>
// CHECK-NEXT: nn.tanh %[[R]]
// CHECK: return %{{.*}}, %[[T]]
func.func @read(%x: tensor<128x64xf32>) -> (tensor<4x32x2x32xf32>, tensor<64xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<128x64xf32> -> tensor<64xf32>
  %1 = nn.reshape %x : tensor<128x64xf32> -> tensor<4x32x2x32xf32>
  %2 = nn.tanh %1 : tensor<4x32x2x32xf32>
  return %2, %0 : tensor<4x32x2x32xf32>, tensor<64xf32>
}

// A row of the other shape has other elements, or the sum is needed before there is the other shape.
// CHECK-LABEL: @stays
// CHECK: nn.reduce sum %arg0 [0] : tensor<128x64xf32>
// CHECK: nn.reduce sum %arg1 [0] : tensor<128x64xf32>
func.func @stays(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>)
    -> (tensor<128x2x32xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<128x64xf32> -> tensor<64xf32>
  %1 = nn.exp %0 : tensor<64xf32>
  %2 = nn.reshape %x : tensor<128x64xf32> -> tensor<128x2x32xf32>
  %3 = nn.tanh %2 : tensor<128x2x32xf32>
  %4 = nn.reduce sum %y [0] : tensor<128x64xf32> -> tensor<64xf32>
  %5 = nn.reshape %y : tensor<128x64xf32> -> tensor<64x128xf32>
  %6 = nn.tanh %5 : tensor<64x128xf32>
  return %3, %1, %6, %4 : tensor<128x2x32xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64xf32>
}
