// RUN: split-file %s %t
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss=loss=cross-entropy | FileCheck %t/classifier.mlir
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-smoothing=0.1 ignore-index=0' | FileCheck %t/classifier.mlir --check-prefix=OPTIONS
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-type=i32' | FileCheck %t/classifier.mlir --check-prefix=I32
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss=loss=mse | FileCheck %t/classifier.mlir --check-prefix=MSE
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss=loss=l1 | FileCheck %t/classifier.mlir --check-prefix=L1
// RUN: dpc-opt %t/classifier.mlir --dpc-add-loss=loss=bce-with-logits | FileCheck %t/classifier.mlir --check-prefix=BCE
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss=loss=hinge 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-shape=7' 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-shape=8,1' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy class-axis=1 label-shape=8,1' 2>&1 | FileCheck %s --check-prefix=ONE-AXIS
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-shape=8,4' 2>&1 | FileCheck %s --check-prefix=HOT
// RUN: not dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy label-shape=2,1,5,6' 2>&1 | FileCheck %s --check-prefix=ONE-CHANNEL
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=mse label-shape=8' 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-type=f32' 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss='loss=cross-entropy label-type=int' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss=loss=output:absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not dpc-opt %t/classifier.mlir --dpc-add-loss=loss=output:logits 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy label-shape=2,5,6' | FileCheck %t/segmenter.mlir
// RUN: dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy' | FileCheck %t/segmenter.mlir
// RUN: dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy class-axis=-1' | FileCheck %t/segmenter.mlir --check-prefix=LAST
// RUN: dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy class-axis=0' | FileCheck %t/segmenter.mlir --check-prefix=FIRST
// RUN: not dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy class-axis=3 label-shape=2,5,6' 2>&1 | FileCheck %s --check-prefix=OTHER-AXIS
// RUN: not dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy class-axis=4' 2>&1 | FileCheck %s --check-prefix=NO-AXIS
// RUN: not dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy class-axis=-5' 2>&1 | FileCheck %s --check-prefix=NO-AXIS
// RUN: not dpc-opt %t/values.mlir --dpc-add-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not dpc-opt %t/segmenter.mlir --dpc-add-loss='loss=cross-entropy label-shape=3,5,6' 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not dpc-opt %t/ambiguous.mlir --dpc-add-loss='loss=cross-entropy' 2>&1 | FileCheck %s --check-prefix=UNSAID
// RUN: not dpc-opt %t/ambiguous.mlir --dpc-add-loss='loss=cross-entropy label-shape=4,3' 2>&1 | FileCheck %s --check-prefix=AMBIGUOUS
// RUN: dpc-opt %t/ambiguous.mlir --dpc-add-loss='loss=cross-entropy class-axis=1' | FileCheck %t/ambiguous.mlir --check-prefix=AXIS1
// RUN: dpc-opt %t/ambiguous.mlir --dpc-add-loss='loss=cross-entropy class-axis=2' | FileCheck %t/ambiguous.mlir --check-prefix=AXIS2
// RUN: dpc-opt %t/square.mlir --dpc-add-loss='loss=cross-entropy' | FileCheck %t/square.mlir
// RUN: dpc-opt %t/sequence.mlir --dpc-add-loss='loss=cross-entropy' | FileCheck %t/sequence.mlir
// RUN: dpc-opt %t/sequence.mlir --dpc-add-loss='loss=cross-entropy label-shape=4,5' | FileCheck %t/sequence.mlir --check-prefix=AXIS1
// RUN: dpc-opt %t/in-graph.mlir --dpc-add-loss=loss=output:loss | FileCheck %t/in-graph.mlir
// RUN: not dpc-opt %t/in-graph.mlir --dpc-add-loss=loss=output:count 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: dpc-opt %t/several.mlir --dpc-add-loss='loss=cross-entropy loss-output=second' | FileCheck %t/several.mlir
// RUN: not dpc-opt %t/several.mlir --dpc-add-loss='loss=mse loss-output=third' 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// RUN: not dpc-opt %t/several.mlir --dpc-add-loss='loss=output:' 2>&1 | FileCheck %s --check-prefix=NO-NAME
// RUN: dpc-opt %t/modes.mlir --dpc-add-loss=loss=output:loss | FileCheck %t/modes.mlir
// RUN: not dpc-opt %t/nothing.mlir --dpc-add-loss=loss=mse 2>&1 | FileCheck %s --check-prefix=FORWARD

// UNKNOWN: error: unknown loss 'hinge'; known: cross-entropy, mse, l1, bce-with-logits, output:NAME
// SHAPE: error: labels of shape [7] do not fit logits of shape [8, 4]: no axis can be taken away that leaves their shape
// ONE: error: labels of shape [8, 1] do not fit logits of shape [8, 4]: class numbers of shape [8] do, without dimension 1 of extent 1
// ONE-AXIS: error: labels of shape [8, 1] do not fit logits of shape [8, 4] with the classes along axis 1: class numbers of shape [8] do, without dimension 1 of extent 1
// HOT: error: labels of shape [8, 4] do not fit logits of shape [8, 4]: class numbers of shape [8] do, the argmax along axis 1 of one-hot rows
// ONE-CHANNEL: error: labels of shape [2, 1, 5, 6] do not fit logits of shape [2, 3, 5, 6]: class numbers of shape [2, 5, 6] do, without dimension 1 of extent 1
// OTHER-AXIS: error: labels of shape [2, 5, 6] do not fit logits of shape [2, 3, 5, 6] with the classes along axis 3: they fit axis 1
// NO-AXIS: error: cross-entropy,axis={{4|-5}}: the logits of shape [2, 3, 5, 6] have axes from -4 to 3
// SAMPLES: error: labels of shape [3, 5, 6] fit logits of shape [2, 3, 5, 6] with the classes along axis 0 only, which counts samples: if that is meant, say --loss=cross-entropy,axis=0
// VALUES: error: cross-entropy needs a class axis beside that of samples, but the logits have shape [8]: for one value a sample there are bce-with-logits and mse
// UNSAID: error: logits of shape [4, 3, 3] may have the classes along axis 1 or along axis 2, and labels of shape [4, 3] fit both: say --loss=cross-entropy,axis=1 or axis=2
// AMBIGUOUS: error: labels of shape [4, 3] fit logits of shape [4, 3, 3] with the classes along axis 1 and along axis 2: say --loss=cross-entropy,axis=1 or axis=2
// EQUAL: error: labels of type 'tensor<8xf32>' do not fit an output of type 'tensor<8x4xf32>': this loss needs equal shapes
// INTEGER: error: cross-entropy needs integer labels, not 'f32'
// TYPE: error: label type 'int' is not a type such as i64 or f32
// ABSENT: error: loss output:absent: the graph has no such output; it has logits
// SCALAR: error: loss output:logits: output has type 'tensor<8x4xf32>', which is not a scalar
// FLOAT: error: loss output:count: output count has type 'tensor<i64>', which is not a float
// NO-OUTPUT: error: loss mse,of=third: the graph has no such output; it has first, second
// NO-NAME: error: loss output:: the graph has no such output; it has first, second
// FORWARD: error: has no function @forward

//--- values.mlir
module @refuses_logits_without_classes {
func.func @forward(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
//--- classifier.mlir
// @forward becomes @step and @eval. The labels are a new argument of both: the output without its last axis.
// CHECK-NOT: @forward
// CHECK: func.func @step(
// CHECK-SAME: tensor<i64> {nn.arg = #nn.arg<control "seed">}
// CHECK-SAME: tensor<i64> {nn.arg = #nn.arg<control "step">}
// CHECK-SAME: %[[LABEL:[a-zA-Z0-9]+]]: tensor<8xi64> {nn.arg = #nn.arg<label "label", batch = 0>}) -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
// CHECK: %[[OUT:[a-zA-Z0-9]+]] = nn.dot
// CHECK: %[[LOSSES:[a-zA-Z0-9]+]], %{{.*}} = nn.cross_entropy %[[OUT]], %[[LABEL]] dim 1 :
// The mean is over the labels that count.
// CHECK: %[[COUNTS:[a-zA-Z0-9]+]] = nn.compare ne %[[LABEL]]
// CHECK: %[[ONES:[a-zA-Z0-9]+]] = nn.convert %[[COUNTS]]
// CHECK: %[[COUNT:[a-zA-Z0-9]+]] = nn.reduce sum %[[ONES]] [0]
// CHECK: %[[SUM:[a-zA-Z0-9]+]] = nn.reduce sum %[[LOSSES]] [0]
// CHECK: %[[LOSS:[a-zA-Z0-9]+]] = nn.div %[[SUM]], %[[COUNT]]
// CHECK: return %[[LOSS]] : tensor<f32>
// In @eval the labels of the rows from valid_rows on are turned into ones that do not count.
// CHECK: func.func @eval(
// CHECK-NOT: control "seed"
// CHECK-SAME: %[[LABEL:[a-zA-Z0-9]+]]: tensor<8xi64> {nn.arg = #nn.arg<label "label", batch = 0>}, %[[ROWS:[a-zA-Z0-9]+]]: tensor<i64> {nn.arg = #nn.arg<control "valid_rows">})
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<f32> {nn.result = #nn.result<metric "count">}, tensor<f32> {nn.result = #nn.result<metric "accuracy">})
// CHECK: %[[IGNORED:[a-zA-Z0-9]+]] = nn.constant dense<-100> : tensor<8xi64>
// CHECK: %[[LIMIT:[a-zA-Z0-9]+]] = nn.broadcast %[[ROWS]] []
// CHECK: %[[ROW:[a-zA-Z0-9]+]] = nn.iota dim 0 : tensor<8xi64>
// CHECK: %[[VALID:[a-zA-Z0-9]+]] = nn.compare lt %[[ROW]], %[[LIMIT]]
// CHECK: %[[KEPT:[a-zA-Z0-9]+]] = nn.select %[[VALID]], %[[LABEL]], %[[IGNORED]]
// CHECK: nn.cross_entropy %{{.*}}, %[[KEPT]] dim 1
// CHECK: nn.arg_reduce max %{{.*}} dim 1

// OPTIONS-COUNT-2: nn.cross_entropy {{.*}} {ignoreIndex = 0 : i64, labelSmoothing = 1.000000e-01 : f64}
// The ignored label may be a class: a guess of it is right only where the label counts.
// OPTIONS: %[[COUNTS:[a-z0-9]+]] = nn.compare ne
// OPTIONS: %[[GUESSED:[a-z0-9]+]] = nn.compare eq
// OPTIONS: nn.and %[[GUESSED]], %[[COUNTS]] : tensor<8xi1>

// Labels of another width are converted once.
// I32: %[[LABEL:[a-zA-Z0-9]+]]: tensor<8xi32> {nn.arg = #nn.arg<label "label", batch = 0>})
// I32: %[[WIDE:[a-zA-Z0-9]+]] = nn.convert %[[LABEL]] : tensor<8xi32> -> tensor<8xi64>
// I32: nn.cross_entropy %{{.*}}, %[[WIDE]]

// Losses by element take labels of the output's type and the mean over all elements.
// MSE: func.func @step({{.*}}%[[LABEL:[a-z0-9]+]]: tensor<8x4xf32> {nn.arg = #nn.arg<label "label", batch = 0>})
// MSE: %[[D:[a-zA-Z0-9]+]] = nn.sub %{{.*}}, %[[LABEL]]
// MSE: %[[S:[a-zA-Z0-9]+]] = nn.mul %[[D]], %[[D]]
// MSE: %[[N:[a-zA-Z0-9]+]] = nn.constant dense<3.200000e+01> : tensor<f32>
// MSE: %[[SUM:[a-zA-Z0-9]+]] = nn.reduce sum %[[S]] [0, 1]
// MSE: nn.div %[[SUM]], %[[N]]
// Rows that are not valid give 0 and are not counted; there is no accuracy.
// MSE: func.func @eval
// MSE-NOT: accuracy
// MSE: %[[VALID:[a-zA-Z0-9]+]] = nn.compare lt
// MSE: %[[ZERO:[a-zA-Z0-9]+]] = nn.constant dense<0.000000e+00> : tensor<8x4xf32>
// MSE: %[[TERMS:[a-zA-Z0-9]+]] = nn.select %[[VALID]], %{{.*}}, %[[ZERO]]
// MSE: %[[ONES:[a-zA-Z0-9]+]] = nn.convert %[[VALID]]
// MSE: %[[N:[a-zA-Z0-9]+]] = nn.reduce sum %[[ONES]] [0, 1]
// MSE: %[[SUM:[a-zA-Z0-9]+]] = nn.reduce sum %[[TERMS]] [0, 1]
// MSE: nn.div %[[SUM]], %[[N]]

// L1: %[[D:[a-zA-Z0-9]+]] = nn.sub
// L1: nn.abs %[[D]]

// BCE: %[[S:[a-zA-Z0-9]+]] = nn.softplus %[[X:[a-zA-Z0-9]+]] :
// BCE: %[[XY:[a-zA-Z0-9]+]] = nn.mul %[[X]], %{{.*}}
// BCE: nn.sub %[[S]], %[[XY]]
module @adds_labels_and_loss {
func.func @forward(%w: tensor<3x4xf32> {nn.arg = #nn.arg<parameter "w">},
                   %x: tensor<8x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x4xf32> {nn.result = #nn.result<output "logits">}) {
  %y = nn.dot %x, %w contract [1] [0] : tensor<8x3xf32>, tensor<3x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
}

//--- segmenter.mlir
// Classes lie along axis 1 of rank 4, as labels of the shape without it say too, unless the axis is given. It stays on the module.
// CHECK: nn.loss = #nn.loss<"cross-entropy" of "y" : tensor<2x3x5x6xf32>, classAxis = 1>
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<2x3x5x6xf32>, tensor<2x5x6xi64>
// LAST: nn.cross_entropy %{{.*}}, %{{.*}} dim 3 : tensor<2x3x5x6xf32>, tensor<2x3x5xi64>
// FIRST: nn.cross_entropy %{{.*}}, %{{.*}} dim 0 : tensor<2x3x5x6xf32>, tensor<3x5x6xi64>
module @class_axis_of_images {
func.func @forward(%w: tensor<2x3x5x6xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<2x3x5x6xf32> {nn.result = #nn.result<output "y">}) {
  return %w : tensor<2x3x5x6xf32>
}
}

//--- ambiguous.mlir
// Labels that fit two axes do not choose.
// AXIS1: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<4x3x3xf32>, tensor<4x3xi64>
// AXIS2: nn.cross_entropy %{{.*}}, %{{.*}} dim 2 : tensor<4x3x3xf32>, tensor<4x3xi64>
module @refuses_labels_of_two_axes {
func.func @forward(%w: tensor<4x3x3xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4x3x3xf32> {nn.result = #nn.result<output "y">}) {
  return %w : tensor<4x3x3xf32>
}
}

//--- square.mlir
// As many samples as classes: the axis of the samples is no candidate.
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<4x4xf32>, tensor<4xi64>
module @sample_axis_holds_no_classes {
func.func @forward(%w: tensor<4x4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4x4xf32> {nn.result = #nn.result<output "y">}) {
  return %w : tensor<4x4xf32>
}
}

//--- sequence.mlir
// Rank 3: the last axis, unless the labels say another.
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 2 : tensor<4x3x5xf32>, tensor<4x3xi64>
// AXIS1: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<4x3x5xf32>, tensor<4x5xi64>
module @sequence_classes_lie_last {
func.func @forward(%w: tensor<4x3x5xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4x3x5xf32> {nn.result = #nn.result<output "y">}) {
  return %w : tensor<4x3x5xf32>
}
}

//--- in-graph.mlir
// A loss of the graph needs no label; one element of any rank is a scalar. What only other outputs needed goes.
// CHECK: func.func @step
// CHECK-NOT: #nn.arg<label
// CHECK-NOT: nn.exp
// CHECK: %[[LOSS:[a-zA-Z0-9]+]] = nn.reshape %{{.*}} : tensor<1xf32> -> tensor<f32>
// CHECK: return %[[LOSS]] : tensor<f32>
// CHECK: func.func @eval
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
// CHECK-NOT: nn.exp
module @graph_loss_needs_no_labels {
func.func @forward(%w: tensor<1xf32> {nn.arg = #nn.arg<parameter "w">}, %n: tensor<i64> {nn.arg = #nn.arg<input "n">})
    -> (tensor<1xf32> {nn.result = #nn.result<output "other">}, tensor<1xf32> {nn.result = #nn.result<output "loss">},
        tensor<i64> {nn.result = #nn.result<output "count">}) {
  %0 = nn.exp %w : tensor<1xf32>
  %1 = nn.mul %w, %w : tensor<1xf32>
  return %0, %1, %n : tensor<1xf32>, tensor<1xf32>, tensor<i64>
}
}

//--- several.mlir
// The loss is of the output that is named; what only the first needs goes.
// CHECK: nn.loss = #nn.loss<"cross-entropy" of "second" : tensor<8x5xf32>, classAxis = 1>
// CHECK: func.func @step
// CHECK-NOT: nn.exp
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<8x5xf32>, tensor<8xi64>
module @loss_of_named_output {
func.func @forward(%a: tensor<8x4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<8x5xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<8x4xf32> {nn.result = #nn.result<output "first">}, tensor<8x5xf32> {nn.result = #nn.result<output "second">}) {
  %0 = nn.exp %a : tensor<8x4xf32>
  %1 = nn.tanh %b : tensor<8x5xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x5xf32>
}
}

//--- modes.mlir
// @step normalises by the batch and draws a dropout mask, and keeps the new statistics as state ...
// CHECK: func.func @step
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<4xf32> {nn.result = #nn.result<state "mean">}, tensor<4xf32> {nn.result = #nn.result<state "var">}) {
// CHECK-NOT: nn.batch_norm
// CHECK-NOT: nn.dropout
// CHECK: nn.normalize
// CHECK: nn.random_uniform
// ... @eval by the statistics, without dropout and without new state.
// CHECK: func.func @eval
// CHECK-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
// CHECK-NOT: nn.batch_norm
// CHECK-NOT: nn.dropout
// CHECK-NOT: nn.normalize
// CHECK-NOT: nn.random_uniform
module @step_and_eval_form_modes {
func.func @forward(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                   %s: tensor<4xf32> {nn.arg = #nn.arg<parameter "scale">},
                   %m: tensor<4xf32> {nn.arg = #nn.arg<buffer "mean">},
                   %v: tensor<4xf32> {nn.arg = #nn.arg<buffer "var">})
    -> (tensor<f32> {nn.result = #nn.result<output "loss">}, tensor<4xf32> {nn.result = #nn.result<state "mean">},
        tensor<4xf32> {nn.result = #nn.result<state "var">}) {
  %y, %m1, %v1 = nn.batch_norm %x, %s, %s, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<8x4xf32>, tensor<4xf32>
  %d, %mask = nn.dropout %y {ratio = 0.5 : f64, ordinal = 3 : i64} : tensor<8x4xf32>
  %l = nn.reduce sum %d [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %l, %m1, %v1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
}

//--- nothing.mlir
func.func @refuses_missing_forward() {
  return
}
