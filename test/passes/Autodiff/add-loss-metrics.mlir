// RUN: split-file %s %t
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy metrics=top-5,perplexity' | FileCheck %t/classifier.mlir
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-smoothing=0.1 metrics=perplexity' | FileCheck %t/classifier.mlir --check-prefix=SMOOTH
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss='loss=bce-with-logits metrics=binary-accuracy' | FileCheck %t/classifier.mlir --check-prefix=BINARY
// RUN: dpc-opt %t/outputs.mlir --dpc-add-loss='loss=mse metrics=output:score,output:total' | FileCheck %t/outputs.mlir
// RUN: dpc-opt %t/outputs.mlir --dpc-add-loss='loss=output:total metrics=output:score' | FileCheck %t/outputs.mlir --check-prefix=IN-GRAPH
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy metrics=bleu' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=mse metrics=accuracy' 2>&1 | FileCheck %s --check-prefix=CLASSES
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy metrics=binary-accuracy' 2>&1 | FileCheck %s --check-prefix=LOGITS
// RUN: not dpc-opt %t/outputs.mlir --dpc-add-loss='loss=cross-entropy metrics=top-5' 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not dpc-opt %t/outputs.mlir --dpc-add-loss='loss=mse metrics=output:absent' 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not dpc-opt %t/outputs.mlir --dpc-add-loss='loss=mse metrics=output:table' 2>&1 | FileCheck %s --check-prefix=ROWS

// UNKNOWN: error: unknown metric 'bleu'; known: accuracy, top-5, binary-accuracy, perplexity, output:NAME
// CLASSES: error: accuracy needs a loss that has classes, --loss=cross-entropy, not --loss=mse
// LOGITS: error: binary-accuracy needs a loss of logits that are each of two classes, --loss=bce-with-logits, not --loss=cross-entropy
// FEW: error: metric top-5 needs at least 6 classes, but output y has 5 along axis 1
// ABSENT: error: metric output:absent: the graph has no such output; it has y, score, total, table
// ROWS: error: metric output:table: output has type 'tensor<3x5xf32>', which is neither one number nor has a sample in each row of a batch of 8

//--- classifier.mlir
// Metrics are of @eval alone, after the accuracy that every classification has. The host learns which mean each is.
// CHECK: func.func @step
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
// CHECK: func.func @eval
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<f32> {nn.result = #nn.result<metric "count">}, tensor<f32> {nn.result = #nn.result<metric "accuracy">}, tensor<f32> {nn.result = #nn.result<metric "top_5">}, tensor<f32> {nn.mean = "geometric", nn.result = #nn.result<metric "perplexity">}) {
// CHECK: %[[KEPT:[a-zA-Z0-9]+]] = nn.select %{{.*}} : tensor<8xi1>, tensor<8xi64>
// CHECK: %[[COUNTS:[a-zA-Z0-9]+]] = nn.compare ne %[[KEPT]]
// CHECK: %[[COUNT:[a-zA-Z0-9]+]] = nn.reduce sum %{{.*}} [0] : tensor<8xf32> -> tensor<f32>
// CHECK: %[[LOSS:[a-zA-Z0-9]+]] = nn.div %{{.*}}, %[[COUNT]]
// Padding rows and ignored labels do not count among the first five either.
// CHECK: %[[BEFORE:[a-zA-Z0-9]+]] = nn.reduce sum %{{.*}} [1] : tensor<8x7xi64> -> tensor<8xi64>
// CHECK: %[[FIRST:[a-zA-Z0-9]+]] = nn.compare lt %[[BEFORE]]
// CHECK: nn.and %[[FIRST]], %[[COUNTS]]
// CHECK: nn.exp %[[LOSS]]

// Perplexity is of the labels as they are.
// SMOOTH: func.func @eval
// SMOOTH: nn.cross_entropy {{.*}}labelSmoothing = 1.000000e-01
// SMOOTH: %[[OWN:[a-zA-Z0-9_]+]], %{{.*}} = nn.cross_entropy {{.*}} dim 1 :
// SMOOTH: nn.reduce sum %[[OWN]] [0]
// SMOOTH: nn.exp

// BINARY: func.func @eval
// BINARY-SAME: metric "binary_accuracy">})
// BINARY: %[[VALID:[a-zA-Z0-9]+]] = nn.compare lt %{{.*}} : tensor<8x7xi64>
// BINARY: %[[GUESS:[a-zA-Z0-9]+]] = nn.compare gt
// BINARY: %[[TRUTH:[a-zA-Z0-9]+]] = nn.compare gt
// BINARY: %[[RIGHT:[a-zA-Z0-9]+]] = nn.compare eq %[[GUESS]], %[[TRUTH]]
// BINARY: nn.and %[[RIGHT]], %[[VALID]]
module @classifier_metrics_are_of_eval {
func.func @forward(%w: tensor<3x7xf32> {nn.arg = #nn.arg<parameter "w">},
                   %x: tensor<8x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x7xf32> {nn.result = #nn.result<output "logits">}) {
  %y = nn.dot %x, %w contract [1] [0] : tensor<8x3xf32>, tensor<3x7xf32> -> tensor<8x7xf32>
  return %y : tensor<8x7xf32>
}
}

//--- outputs.mlir
// An output of samples is masked and weighed by them; one number of all rows cannot be.
// CHECK: func.func @eval
// CHECK-SAME: %[[VALID:[a-zA-Z0-9]+]]: tensor<i64> {nn.arg = #nn.arg<control "valid_rows">})
// CHECK-SAME: tensor<f32> {nn.mean = "samples", nn.result = #nn.result<metric "output:score">}, tensor<f32> {nn.mean = "batches", nn.result = #nn.result<metric "output:total">}) {
// CHECK: %[[TERMS:[a-zA-Z0-9]+]] = nn.select %{{.*}} : tensor<8x1xi1>, tensor<8x1xf32>
// CHECK: %[[N:[a-zA-Z0-9]+]] = nn.convert %[[VALID]] : tensor<i64> -> tensor<f32>
// CHECK: nn.reduce sum %[[TERMS]] [0, 1]
// Without labels there is nothing to mask by: all batches are whole.
// IN-GRAPH: func.func @eval
// IN-GRAPH-NOT: valid_rows
// IN-GRAPH-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<f32> {nn.mean = "samples", nn.result = #nn.result<metric "output:score">}) {
module @outputs_are_metrics {
func.func @forward(%w: tensor<3x5xf32> {nn.arg = #nn.arg<parameter "w">},
                   %x: tensor<8x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x5xf32> {nn.result = #nn.result<output "y">}, tensor<8x1xf32> {nn.result = #nn.result<output "score">},
        tensor<1xf32> {nn.result = #nn.result<output "total">}, tensor<3x5xf32> {nn.result = #nn.result<output "table">}) {
  %y = nn.dot %x, %w contract [1] [0] : tensor<8x3xf32>, tensor<3x5xf32> -> tensor<8x5xf32>
  %s = nn.reduce sum %y [1] : tensor<8x5xf32> -> tensor<8xf32>
  %score = nn.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %t = nn.reduce sum %s [0] : tensor<8xf32> -> tensor<f32>
  %total = nn.reshape %t : tensor<f32> -> tensor<1xf32>
  return %y, %score, %total, %w : tensor<8x5xf32>, tensor<8x1xf32>, tensor<1xf32>, tensor<3x5xf32>
}
}
