// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s --check-prefixes=CHECK,IEEE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels=factors=tf32 --dpc-generate-code=factors=tf32 | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels=factors=tf32x3 --dpc-generate-code=factors=tf32x3 | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels='factors=tf32 ordered-sums' --dpc-generate-code='factors=tf32 ordered-sums' | FileCheck %s --check-prefix=ORDERED

// The units that multiply small matrices make products of f64, and of f32 where
// factors may be rounded to tf32, or are sums of two numbers of tf32; else each
// multiplication is one of IEEE.

// CHECK-LABEL: func.func private @kernel.0
// IEEE-NOT: llvm.nvvm.mma
// TF32: cvt.rna.tf32.f32
// TF32: llvm.nvvm.mma.m16n8k8.row.col.tf32
// SPLIT: cvt.rna.tf32.f32
// SPLIT: arith.subf
// SPLIT: [[FIRST:%.+]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"({{.*}}, %cst{{[_0-9]*}}, %cst{{[_0-9]*}}, %cst{{[_0-9]*}}, %cst{{[_0-9]*}})
// SPLIT-COUNT-2: llvm.nvvm.mma.m16n8k8.row.col.tf32
// SPLIT: arith.addf
// ORDERED-NOT: llvm.nvvm.mma
func.func @matrix_units_round_to_tf32(%x: tensor<64x24xf32>, %y: tensor<24x64xf32>) -> tensor<64x64xf32> {
  %0 = nn.kernel (%x, %y : tensor<64x24xf32>, tensor<24x64xf32>) {
  ^bb0(%a: tensor<64x24xf32>, %b: tensor<24x64xf32>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<64x24xf32>, tensor<24x64xf32> -> tensor<64x64xf32>
    nn.yield %p : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func private @kernel.0
// CHECK: llvm.nvvm.mma.m8n8k4.row.col.f64
func.func @matrix_units_multiply_f64(%x: tensor<64x24xf64>, %y: tensor<24x64xf64>) -> tensor<64x64xf64> {
  %0 = nn.kernel (%x, %y : tensor<64x24xf64>, tensor<24x64xf64>) {
  ^bb0(%a: tensor<64x24xf64>, %b: tensor<24x64xf64>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<64x24xf64>, tensor<24x64xf64> -> tensor<64x64xf64>
    nn.yield %p : tensor<64x64xf64>
  } -> tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}

// -----

// CHECK-LABEL: func.func private @kernel.0
// CHECK: llvm.nvvm.mma.m8n8k4.row.col.f64
func.func @attention_uses_matrix_units(%q: tensor<6x40x16xf64>) -> tensor<6x40x16xf64> {
  %0 = nn.kernel (%q : tensor<6x40x16xf64>) {
  ^bb0(%a: tensor<6x40x16xf64>):
    %o, %l = nn.attention %a, %a, %a rows 1 scale 2.500000e-01 : tensor<6x40x16xf64>, tensor<6x40x16xf64>, tensor<6x40x16xf64> -> tensor<6x40x16xf64>, tensor<6x40xf64>
    nn.yield %o : tensor<6x40x16xf64>
  } -> tensor<6x40x16xf64>
  return %0 : tensor<6x40x16xf64>
}

// -----

// Attention of f32 multiplies sums of two numbers of tf32, unless factors may be rounded.

// CHECK-LABEL: func.func private @kernel.0
// CHECK: llvm.nvvm.mma.m16n8k8.row.col.tf32
// ORDERED-LABEL: func.func private @kernel.0
// ORDERED-NOT: llvm.nvvm.mma
func.func @attention_splits_f32(%q: tensor<6x40x16xf32>) -> tensor<6x40x16xf32> {
  %0 = nn.kernel (%q : tensor<6x40x16xf32>) {
  ^bb0(%a: tensor<6x40x16xf32>):
    %o, %l = nn.attention %a, %a, %a rows 1 scale 2.500000e-01 : tensor<6x40x16xf32>, tensor<6x40x16xf32>, tensor<6x40x16xf32> -> tensor<6x40x16xf32>, tensor<6x40xf32>
    nn.yield %o : tensor<6x40x16xf32>
  } -> tensor<6x40x16xf32>
  return %0 : tensor<6x40x16xf32>
}
