// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// CHECK-LABEL: @attention_round_trips
func.func @attention_round_trips(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %m: tensor<6xf32>) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} rows 0 scale 5.000000e-01 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  %y, %l = nn.attention %q, %k, %v rows 0 scale 0.5
      : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} [1] rows 0 scale 5.000000e-01 causal guarded : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<6xf32> -> tensor<4x2xf32>, tensor<4xf32>
  %y2, %l2 = nn.attention %q, %k, %v mask %m [1] rows 0 scale 0.5 causal guarded
      : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<6xf32> -> tensor<4x2xf32>, tensor<4xf32>
  // CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} [1] rows 0 scale 5.000000e-01 causal guarded : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<6xf32> -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %l2, %y mask %m [1] rows 0 scale 0.5 causal guarded
      : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<6xf32>
      -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
  return
}

// Heads behind rows, and in front of them.
// CHECK-LABEL: @heads_behind_and_before_rows
func.func @heads_behind_and_before_rows(%q: tensor<2x4x3x8xf64>, %r: tensor<2x3x4x8xf64>) {
  // CHECK: rows 1 scale {{.*}} -> tensor<2x4x3x8xf64>, tensor<2x3x4xf64>
  %y, %l = nn.attention %q, %q, %q rows 1 scale 1.0
      : tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64> -> tensor<2x4x3x8xf64>, tensor<2x3x4xf64>
  // CHECK: rows 2 scale {{.*}} -> tensor<2x3x4x8xf64>, tensor<2x3x4xf64>
  %y2, %l2 = nn.attention %r, %r, %r rows 2 scale 1.0
      : tensor<2x3x4x8xf64>, tensor<2x3x4x8xf64>, tensor<2x3x4x8xf64> -> tensor<2x3x4x8xf64>, tensor<2x3x4xf64>
  return
}

// 16-bit rows are summed in f32, and the mask may be of either type.
// CHECK-LABEL: @narrow_rows_and_wide_sums
func.func @narrow_rows_and_wide_sums(%q: tensor<4x8xbf16>, %k: tensor<6x8xbf16>, %v: tensor<6x2xbf16>, %m: tensor<6xbf16>, %n: tensor<6xf32>, %h: tensor<4x8xf16>) {
  // CHECK: nn.attention {{.*}} : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<6xbf16> -> tensor<4x2xbf16>, tensor<4xf32>
  %y, %l = nn.attention %q, %k, %v mask %m [1] rows 0 scale 0.5
      : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<6xbf16> -> tensor<4x2xbf16>, tensor<4xf32>
  // CHECK: nn.attention {{.*}} : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<6xf32> -> tensor<4x2xbf16>, tensor<4xf32>
  %y2, %l2 = nn.attention %q, %k, %v mask %n [1] rows 0 scale 0.5
      : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<6xf32> -> tensor<4x2xbf16>, tensor<4xf32>
  // CHECK: nn.attention_grad {{.*}} tensor<4xf32>, tensor<4xf32>, tensor<4x2xbf16>, tensor<6xf32> -> tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %l2, %y mask %n [1] rows 0 scale 0.5
      : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xbf16>, tensor<6xf32>
      -> tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>
  // CHECK: nn.attention {{.*}} -> tensor<4x8xf16>, tensor<4xf32>
  %y3, %l3 = nn.attention %h, %h, %h rows 0 scale 0.5
      : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>, tensor<4xf32>
  return
}
