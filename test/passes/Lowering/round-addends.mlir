// RUN: dpc-opt %s --dpc-describe-machine=target=cuda --dpc-round-addends | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine=target=cuda --dpc-round-addends=products=generated | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --dpc-describe-machine=target=cuda --dpc-round-addends=ordered-sums | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --dpc-describe-machine=target=cpu --dpc-round-addends | FileCheck %s --check-prefix=NONE

// Without a library for the product, no bias is rounded.
// NONE-LABEL: @bias
// NONE-NOT: tensor<512xbf16>

// The library reads a bias in 16 bits. The bias comes before the product, because fusion lets a product wait for nothing that comes after
// it.
// CHECK-LABEL: @bias
// CHECK: %[[N:.*]] = nn.convert %arg2 : tensor<512xf32> -> tensor<512xbf16>
// CHECK: %[[B:.*]] = nn.broadcast %[[N]] [1] : tensor<512xbf16> -> tensor<512x512xbf16>
// CHECK: %[[F:.*]] = nn.convert %[[B]] : tensor<512x512xbf16> -> tensor<512x512xf32>
// CHECK: nn.dot
// CHECK: nn.add %{{.*}}, %[[F]]
func.func @bias(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>, %b: tensor<512xf32>) -> tensor<512x512xbf16> {
  %n = nn.dot %x, %w contract [1] [0] : tensor<512x512xbf16>, tensor<512x512xbf16> -> tensor<512x512xbf16>
  %y = nn.convert %n : tensor<512x512xbf16> -> tensor<512x512xf32>
  %c = nn.broadcast %b [1] : tensor<512xf32> -> tensor<512x512xf32>
  %s = nn.add %y, %c : tensor<512x512xf32>
  %r = nn.convert %s : tensor<512x512xf32> -> tensor<512x512xbf16>
  return %r : tensor<512x512xbf16>
}

// A sum that is also used in f32, and a small product, keep their bias.
// CHECK-LABEL: @others
// CHECK-NOT: nn.broadcast {{.*}}bf16>
// NONE-LABEL: @others
func.func @others(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>, %b: tensor<512xf32>, %v: tensor<8x512xbf16>) -> (tensor<512x512xbf16>, tensor<512x512xf32>, tensor<8x512xbf16>) {
  %n = nn.dot %x, %w contract [1] [0] : tensor<512x512xbf16>, tensor<512x512xbf16> -> tensor<512x512xbf16>
  %y = nn.convert %n : tensor<512x512xbf16> -> tensor<512x512xf32>
  %c = nn.broadcast %b [1] : tensor<512xf32> -> tensor<512x512xf32>
  %s = nn.add %y, %c : tensor<512x512xf32>
  %r = nn.convert %s : tensor<512x512xf32> -> tensor<512x512xbf16>
  %m = nn.dot %v, %w contract [1] [0] : tensor<8x512xbf16>, tensor<512x512xbf16> -> tensor<8x512xbf16>
  %z = nn.convert %m : tensor<8x512xbf16> -> tensor<8x512xf32>
  %d = nn.broadcast %b [1] : tensor<512xf32> -> tensor<8x512xf32>
  %t = nn.add %z, %d : tensor<8x512xf32>
  %u = nn.convert %t : tensor<8x512xf32> -> tensor<8x512xbf16>
  return %r, %s, %u : tensor<512x512xbf16>, tensor<512x512xf32>, tensor<8x512xbf16>
}
