// RUN: dpc-opt %s --dpc-describe-machine --dpc-form-kernels | FileCheck %s

// A product does not wait for a sum with what is made later, where its factors are larger than
// what it makes: they would stay until then.
// CHECK-LABEL: @large_factors_do_not_wait
// CHECK: nn.kernel
// CHECK: nn.dot {{.*}} tensor<64x512xf32>, tensor<512x64xf32>
// CHECK-NEXT: nn.yield
// CHECK: nn.kernel
// CHECK: nn.dot {{.*}} tensor<64x16xf32>, tensor<16x64xf32>
// CHECK-NEXT: nn.add
func.func @large_factors_do_not_wait(%a: tensor<64x512xf32>, %b: tensor<512x64xf32>, %c: tensor<64x16xf32>, %d: tensor<16x64xf32>)
    -> tensor<64x64xf32> {
  %x = nn.dot %a, %b contract [1] [0] : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  %y = nn.dot %c, %d contract [1] [0] : tensor<64x16xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
  %s = nn.add %x, %y : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// It does where its factors are smaller: the first product waits for the second one.
// CHECK-LABEL: @small_factors_wait
// CHECK: nn.kernel
// CHECK: nn.dot {{.*}} tensor<64x512xf32>, tensor<512x64xf32>
// CHECK-NEXT: nn.yield
// CHECK: nn.kernel
// CHECK: nn.dot {{.*}} tensor<64x16xf32>, tensor<16x64xf32>
// CHECK-NEXT: nn.add
func.func @small_factors_wait(%a: tensor<64x512xf32>, %b: tensor<512x64xf32>, %c: tensor<64x16xf32>, %d: tensor<16x64xf32>)
    -> tensor<64x64xf32> {
  %x = nn.dot %c, %d contract [1] [0] : tensor<64x16xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
  %y = nn.dot %a, %b contract [1] [0] : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  %s = nn.add %x, %y : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// Messages keep their order, although the kernel of the first one has ops that come after the second
// one: the other stage has its messages in the same order.
dist.mesh @mesh axes ["pipe"] sizes [2]
// CHECK-LABEL: @messages_keep_their_order
// CHECK: dist.send {{.*}} number 0
// CHECK: dist.recv {{.*}} number 1
// CHECK: dist.send {{.*}} number 2
func.func @messages_keep_their_order(%a: tensor<64xf32>) -> tensor<64xf32> {
  %x = nn.exp %a : tensor<64xf32>
  dist.send %x to 1 on @mesh "pipe" number 0 : tensor<64xf32>
  %r = dist.recv from 1 on @mesh "pipe" number 1 : tensor<64xf32>
  %y = nn.tanh %a : tensor<64xf32>
  dist.send %y to 1 on @mesh "pipe" number 2 : tensor<64xf32>
  %z = nn.add %x, %r : tensor<64xf32>
  return %z : tensor<64xf32>
}
