// RUN: dpc-opt %s --dpc-describe-machine --dpc-order-computation | FileCheck %s

// State that is held cut is gathered two buckets ahead: the third when what reads the
// first has run. A gather of something else starts when it can.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @gathers_two_buckets_ahead
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32xf32> {{.*}}%[[A:[a-z0-9]+]]: tensor<16xf32> {dist.storage {{.*}}%[[B:[a-z0-9]+]]: tensor<16xf32> {dist.storage {{.*}}%[[C:[a-z0-9]+]]: tensor<16xf32> {dist.storage
// CHECK: dist.all_gather %[[A]]
// CHECK: dist.all_gather %[[B]]
// CHECK: nn.kernel(%[[X]],
// CHECK: dist.all_gather %[[C]]
// CHECK: nn.kernel(
// CHECK: nn.kernel(
// CHECK: return
func.func @gathers_two_buckets_ahead(%x: tensor<32xf32> {nn.arg = #nn.arg<input "x">},
                 %a: tensor<16xf32> {dist.storage = #dist.storage<"frozen.0" [<#nn.arg<parameter "a">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>},
                 %b: tensor<16xf32> {dist.storage = #dist.storage<"frozen.1" [<#nn.arg<parameter "b">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>},
                 %c: tensor<16xf32> {dist.storage = #dist.storage<"frozen.2" [<#nn.arg<parameter "c">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>})
    -> (tensor<32xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.all_gather %a on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %1 = dist.all_gather %b on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %2 = dist.all_gather %c on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %wa = nn.reshape %0 : tensor<2x16xf32> -> tensor<32xf32>
  %wb = nn.reshape %1 : tensor<2x16xf32> -> tensor<32xf32>
  %wc = nn.reshape %2 : tensor<2x16xf32> -> tensor<32xf32>
  %3 = nn.kernel(%x, %wa : tensor<32xf32>, tensor<32xf32>) {
  ^bb0(%p: tensor<32xf32>, %q: tensor<32xf32>):
    %6 = nn.add %p, %q : tensor<32xf32>
    nn.yield %6 : tensor<32xf32>
  } -> tensor<32xf32>
  %4 = nn.kernel(%3, %wb : tensor<32xf32>, tensor<32xf32>) {
  ^bb0(%p: tensor<32xf32>, %q: tensor<32xf32>):
    %6 = nn.mul %p, %q : tensor<32xf32>
    nn.yield %6 : tensor<32xf32>
  } -> tensor<32xf32>
  %5 = nn.kernel(%4, %wc : tensor<32xf32>, tensor<32xf32>) {
  ^bb0(%p: tensor<32xf32>, %q: tensor<32xf32>):
    %6 = nn.add %p, %q : tensor<32xf32>
    nn.yield %6 : tensor<32xf32>
  } -> tensor<32xf32>
  return %5 : tensor<32xf32>
}
