// The labels' samples are where the output has those of the inputs: through transposes, and through rows that several
// dimensions make up. What counts in the evaluation goes by that dimension.
// RUN: rm -rf %t && split-file %s %t
// RUN: dpc-opt %t/transposed.mlir --dpc-add-loss=loss=cross-entropy | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: dpc-opt %t/rows.mlir --dpc-add-loss=loss=cross-entropy | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: dpc-opt %t/rows.mlir --dpc-add-loss='loss=cross-entropy label-batch-dim=1' | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: dpc-opt %t/first.mlir --dpc-add-loss=loss=cross-entropy | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: dpc-opt %t/first.mlir --dpc-add-loss='loss=cross-entropy label-batch-dim=1' | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: dpc-opt %t/first.mlir --dpc-add-loss=loss=mse | FileCheck %s --check-prefix=ALL
// RUN: dpc-opt %t/transposed.mlir --dpc-add-loss='loss=cross-entropy class-axis=0' | FileCheck %s --check-prefix=CLASSES
// RUN: not dpc-opt %t/lost.mlir --dpc-add-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: dpc-opt %t/guessed.mlir --dpc-add-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=GUESSED
// RUN: dpc-opt %t/guessed.mlir --dpc-add-loss='loss=cross-entropy label-batch-dim=0' 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: dpc-opt %t/first.mlir --dpc-add-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: dpc-opt %t/single.mlir --dpc-add-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: not dpc-opt %t/rows.mlir --dpc-add-loss='loss=cross-entropy label-batch-dim=0' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not dpc-opt %t/rows.mlir --dpc-add-loss='loss=cross-entropy label-batch-dim=2' 2>&1 | FileCheck %s --check-prefix=RANK

// CHECK: func.func @step
// SECOND-SAME: nn.arg = #nn.arg<label "label", batch = 1>
// FIRST-SAME: nn.arg = #nn.arg<label "label", batch = 0>
// CHECK: func.func @eval
// SECOND: nn.iota dim 1
// FIRST: nn.iota dim 0
// ALL: nn.arg = #nn.arg<label "label", batch = 0>
// CLASSES: nn.arg = #nn.arg<label "label", batch = 0>
// LOST: dimension 0 of the labels, of type 'tensor<3xi64>', has extent 3, but input 'x' has 4 samples along dimension 0: --batch-dim=x:K or --batch-dim=label:K says which
// ZERO: dimension 0 of the labels, of type 'tensor<3x4xi64>', has extent 3, but input 'x' has 4 samples along dimension 1
// RANK: --batch-dim=label:2: the labels have rank 2

// Where the output has none, the labels' dimension 0 is a guess. One remark says so; one sample leaves nothing to guess.
// GUESSED-COUNT-1: remark: no dimension of output 'y', of shape [4, 5], is known to count the samples along dimension 0 of input 'x', so dimension 0 of the labels is taken to; --batch-dim=x:K takes another dimension of the input, --batch-dim=label:K of the labels
// GUESSED-NOT: remark
// SILENT-NOT: remark

//--- transposed.mlir
module @transpose_moves_samples {
func.func @forward(%x: tensor<4x3x5xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<3x4x5xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.transpose %x [1, 0, 2] : tensor<4x3x5xf32> -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}
}

//--- rows.mlir
module @reshapes_keep_samples {
func.func @forward(%x: tensor<3x4x5xf32> {nn.arg = #nn.arg<input "x", batch = 1>})
    -> (tensor<3x4x5xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reshape %x : tensor<3x4x5xf32> -> tensor<12x5xf32>
  %1 = nn.add %0, %0 : tensor<12x5xf32>
  %2 = nn.reshape %1 : tensor<12x5xf32> -> tensor<3x4x5xf32>
  return %2 : tensor<3x4x5xf32>
}
}

//--- first.mlir
module @equal_dimensions_take_first {
func.func @forward(%x: tensor<4x4x5xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4x4x5xf32> {nn.result = #nn.result<output "y">}) {
  return %x : tensor<4x4x5xf32>
}
}

//--- lost.mlir
module @refuses_output_without_samples {
func.func @forward(%x: tensor<4x3x5xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<3x5xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<4x3x5xf32> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
}

//--- guessed.mlir
module @guesses_first_dimension {
func.func @forward(%x: tensor<4x4x5xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4x5xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.slice %x starts [3, 0, 0] limits [4, 4, 5] strides [1, 1, 1] : tensor<4x4x5xf32> -> tensor<1x4x5xf32>
  %1 = nn.reshape %0 : tensor<1x4x5xf32> -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
}

//--- single.mlir
module @single_sample_needs_no_guess {
func.func @forward(%x: tensor<1x5xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<1x5xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<1x5xf32> -> tensor<5xf32>
  %1 = nn.reshape %0 : tensor<5xf32> -> tensor<1x5xf32>
  return %1 : tensor<1x5xf32>
}
}
