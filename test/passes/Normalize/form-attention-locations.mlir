// RUN: dpc-opt %s --dpc-form-attention --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Constants may have no location; what is made of them has that of the product.
// CHECK-LABEL: @constant_takes_location_of_product
func.func @constant_takes_location_of_product(%q: tensor<2x3xf32>, %m: tensor<2xi1>) -> tensor<2x3xf32> {
  // CHECK: nn.reshape %{{.*}} : tensor<1x2xi1> -> tensor<2xi1> loc("values")
  // CHECK: nn.select %{{.*}} : tensor<2xi1>, tensor<2xf32> loc("values")
  // CHECK: nn.attention {{.*}} loc(fused["scores", "values"])
  %c = nn.constant dense<[[true, false]]> : tensor<1x2xi1> loc(unknown)
  %r = nn.reshape %c : tensor<1x2xi1> -> tensor<2xi1>
  %w = nn.broadcast %r [1] : tensor<2xi1> -> tensor<2x2xi1>
  %f = nn.constant dense<0xFF800000> : tensor<2x2xf32> loc(unknown)
  %s = nn.dot %q, %q contract [1] [1] : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x2xf32> loc("scores")
  %t = nn.select %w, %s, %f : tensor<2x2xi1>, tensor<2x2xf32>
  %p = nn.softmax %t dim 1 : tensor<2x2xf32>
  %y = nn.dot %p, %q contract [1] [0] : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x3xf32> loc("values")
  return %y : tensor<2x3xf32>
}
