// RUN: dpc-opt %s --dpc-form-attention --canonicalize --cse | FileCheck %s

// Masks of attention: which become causal, which are added, and which stop it from being formed.

// A constant that hides the keys behind a query is no mask.
// CHECK-LABEL: @causal_constant
func.func @causal_constant(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 causal : 
  %m = nn.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w = nn.broadcast %m [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %w, %s : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// With a hole it is a mask.
// CHECK-LABEL: @almost_causal
func.func @almost_causal(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %{{.*}} [2, 3] rows 2 scale 1.000000e+00 : 
  %m = nn.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0xFF800000, 0.0, 0.0]]> : tensor<4x4xf32>
  %w = nn.broadcast %m [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %w, %s : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// So is one that does not hide what it is added to.
// CHECK-LABEL: @weak_causal
func.func @weak_causal(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %{{.*}} [2, 3] rows 2 scale 1.000000e+00 : 
  %m = nn.constant dense<[[0.0, -1.0e8, -1.0e8, -1.0e8], [0.0, 0.0, -1.0e8, -1.0e8], [0.0, 0.0, 0.0, -1.0e8], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w = nn.broadcast %m [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %w, %s : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A comparison of numbers of keys and queries is constant, too, and any fill that
// hides a score does.
// CHECK-LABEL: @causal_select
func.func @causal_select(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 causal : 
  %i = nn.iota dim 2 : tensor<2x3x4x4xi64>
  %j = nn.iota dim 3 : tensor<2x3x4x4xi64>
  %c = nn.compare ge %i, %j : tensor<2x3x4x4xi64> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<-1.0e9> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %c, %s, %f : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// The same of a matrix that is repeated, here of what is hidden.
// CHECK-LABEL: @causal_hidden
func.func @causal_hidden(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 causal : 
  %i = nn.iota dim 0 : tensor<4x4xi64>
  %j = nn.iota dim 1 : tensor<4x4xi64>
  %c = nn.compare lt %i, %j : tensor<4x4xi64> -> tensor<4x4xi1>
  %w = nn.broadcast %c [2, 3] : tensor<4x4xi1> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<-1.0e9> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %w, %f, %s : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A mask that is selected is added, without its repetitions.
// CHECK-LABEL: @hidden_keys
func.func @hidden_keys(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %c: tensor<2x4xi1>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[M:.*]] = nn.select %arg3, %{{.*}}, %{{.*}} : tensor<2x4xi1>, tensor<2x4xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %[[M]] [0, 3] rows 2
  %w = nn.broadcast %c [0, 3] : tensor<2x4xi1> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<0xFF800000> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %w, %s, %f : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Beside a finite number, a row without keys would have equal weights.
// CHECK-LABEL: @hidden_by_number
func.func @hidden_by_number(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %c: tensor<2x4xi1>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %w = nn.broadcast %c [0, 3] : tensor<2x4xi1> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<-1.0e9> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %w, %s, %f : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Arithmetic on what is repeated is done on less, as for the padding that BERT has.
// CHECK-LABEL: @repeats_padding_mask_last
func.func @repeats_padding_mask_last(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.sub {{.*}} : tensor<2x4xf32>
  // CHECK: %[[M:.*]] = nn.mul {{.*}} : tensor<2x4xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %[[M]] [0, 3] rows 2
  %one = nn.constant dense<1.0> : tensor<2x3x4x4xf32>
  %far = nn.constant dense<-1.0e4> : tensor<2x3x4x4xf32>
  %m1 = nn.reshape %m : tensor<2x4xf32> -> tensor<2x1x1x4xf32>
  %m2 = nn.reshape %m1 : tensor<2x1x1x4xf32> -> tensor<2x4xf32>
  %m3 = nn.broadcast %m2 [0, 3] : tensor<2x4xf32> -> tensor<2x3x4x4xf32>
  %m4 = nn.sub %one, %m3 : tensor<2x3x4x4xf32>
  %w = nn.mul %m4, %far : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %t dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A causal mask and another one.
// CHECK-LABEL: @causal_and_padding
func.func @causal_and_padding(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %arg3 [0, 3] rows 2 scale 1.000000e+00 causal : 
  %m0 = nn.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w0 = nn.broadcast %m0 [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %w = nn.broadcast %m [0, 3] : tensor<2x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w : tensor<2x3x4x4xf32>
  %u = nn.add %t, %w0 : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Where the keys of a query are all hidden by padding, those behind it that a
// finite number hides count as much: not `causal`, but the sum of both masks.
// CHECK-LABEL: @finite_causal_and_padding
func.func @finite_causal_and_padding(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[M:.*]] = nn.add {{.*}} : tensor<2x4x4xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %[[M]] [0, 2, 3] rows 2 scale 1.000000e+00 : 
  %m0 = nn.constant dense<[[0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w0 = nn.broadcast %m0 [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %w = nn.broadcast %m [0, 3] : tensor<2x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w0 : tensor<2x3x4x4xf32>
  %u = nn.add %t, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A selected number has no gradient, where an added one has.
// CHECK-LABEL: @finite_select_and_padding
func.func @finite_select_and_padding(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %i = nn.iota dim 2 : tensor<2x3x4x4xi64>
  %j = nn.iota dim 3 : tensor<2x3x4x4xi64>
  %c = nn.compare ge %i, %j : tensor<2x3x4x4xi64> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<-1.0e9> : tensor<2x3x4x4xf32>
  %w = nn.broadcast %m [0, 3] : tensor<2x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %c, %s, %f : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %u = nn.add %t, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// What is causal twice leaves each query a key that nothing hides.
// CHECK-LABEL: @causal_twice
func.func @causal_twice(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 rows 2 scale 1.000000e+00 causal : 
  %i = nn.iota dim 2 : tensor<2x3x4x4xi64>
  %j = nn.iota dim 3 : tensor<2x3x4x4xi64>
  %c = nn.compare ge %i, %j : tensor<2x3x4x4xi64> -> tensor<2x3x4x4xi1>
  %f = nn.constant dense<-1.0e9> : tensor<2x3x4x4xf32>
  %m = nn.constant dense<[[0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w = nn.broadcast %m [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.select %c, %s, %f : tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>
  %u = nn.add %t, %w : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// A constant that hides nothing leaves it `causal`.
// CHECK-LABEL: @finite_causal_and_bias
func.func @finite_causal_and_bias(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %{{.*}} [1, 3] rows 2 scale 1.000000e+00 causal : 
  %m0 = nn.constant dense<[[0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %w0 = nn.broadcast %m0 [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %b = nn.constant dense<[[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, 6.0], [0.0, 3.0, 6.0, 9.0]]> : tensor<3x4xf32>
  %w = nn.broadcast %b [1, 3] : tensor<3x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w : tensor<2x3x4x4xf32>
  %u = nn.add %t, %w0 : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Two masks are added to each other, ...
// CHECK-LABEL: @bias_and_padding
func.func @bias_and_padding(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x4xf32>, %n: tensor<4x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[M:.*]] = nn.add {{.*}} : tensor<2x4x4xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2 mask %[[M]] [0, 2, 3] rows 2
  %w = nn.broadcast %m [0, 3] : tensor<2x4xf32> -> tensor<2x3x4x4xf32>
  %x = nn.broadcast %n [2, 3] : tensor<4x4xf32> -> tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %w : tensor<2x3x4x4xf32>
  %u = nn.add %t, %x : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// ... but not where that makes a tensor as large as the scores.
// CHECK-LABEL: @two_masks
func.func @two_masks(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x3x4x4xf32>, %n: tensor<2x3x4x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %m : tensor<2x3x4x4xf32>
  %u = nn.add %t, %n : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// So is a mask that is scaled with the scores.
// CHECK-LABEL: @scaled_mask
func.func @scaled_mask(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x3x4x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NOT: nn.attention
  // CHECK: nn.softmax
  %h = nn.constant dense<0.5> : tensor<2x3x4x4xf32>
  %s = nn.dot %q, %k batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x4xf32>
  %t = nn.add %s, %m : tensor<2x3x4x4xf32>
  %u = nn.mul %t, %h : tensor<2x3x4x4xf32>
  %p = nn.softmax %u dim 3 : tensor<2x3x4x4xf32>
  %y = nn.dot %p, %v batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}
