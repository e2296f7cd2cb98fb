// RUN: dpc-opt %s --dpc-describe-machine --dpc-order-computation | FileCheck %s

// Parts of state that are converted before they are gathered are converted when the gather may start: two buckets ahead,
// the third when what reads the first has run. They do not hold up what is computed in its order.
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: @converts_two_buckets_ahead
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32xbf16> {{.*}}%[[A:[a-z0-9]+]]: tensor<16xf32> {dist.storage {{.*}}%[[B:[a-z0-9]+]]: tensor<16xf32> {dist.storage {{.*}}%[[C:[a-z0-9]+]]: tensor<16xf32> {dist.storage
// CHECK: nn.kernel(%[[A]] :
// CHECK: dist.all_gather
// CHECK: nn.kernel(%[[B]] :
// CHECK: dist.all_gather
// CHECK: nn.kernel(%[[X]],
// CHECK: nn.kernel(%[[C]] :
// CHECK: dist.all_gather
// CHECK: nn.kernel(
// CHECK: nn.kernel(
// CHECK: return
func.func @converts_two_buckets_ahead(%x: tensor<32xbf16> {nn.arg = #nn.arg<input "x">},
                 %a: tensor<16xf32> {dist.storage = #dist.storage<"frozen.0" [<#nn.arg<parameter "a">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>},
                 %b: tensor<16xf32> {dist.storage = #dist.storage<"frozen.1" [<#nn.arg<parameter "b">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>},
                 %c: tensor<16xf32> {dist.storage = #dist.storage<"frozen.2" [<#nn.arg<parameter "c">, tensor<32xf32>, <"[32]"> at 0>] over ["data"]>})
    -> (tensor<32xbf16> {nn.result = #nn.result<output "y">}) {
  %na = nn.kernel(%a : tensor<16xf32>) {
  ^bb0(%p: tensor<16xf32>):
    %6 = nn.convert %p : tensor<16xf32> -> tensor<16xbf16>
    nn.yield %6 : tensor<16xbf16>
  } -> tensor<16xbf16>
  %nb = nn.kernel(%b : tensor<16xf32>) {
  ^bb0(%p: tensor<16xf32>):
    %6 = nn.convert %p : tensor<16xf32> -> tensor<16xbf16>
    nn.yield %6 : tensor<16xbf16>
  } -> tensor<16xbf16>
  %nc = nn.kernel(%c : tensor<16xf32>) {
  ^bb0(%p: tensor<16xf32>):
    %6 = nn.convert %p : tensor<16xf32> -> tensor<16xbf16>
    nn.yield %6 : tensor<16xbf16>
  } -> tensor<16xbf16>
  %0 = dist.all_gather %na on @mesh ["data"] : tensor<16xbf16> -> tensor<2x16xbf16>
  %1 = dist.all_gather %nb on @mesh ["data"] : tensor<16xbf16> -> tensor<2x16xbf16>
  %2 = dist.all_gather %nc on @mesh ["data"] : tensor<16xbf16> -> tensor<2x16xbf16>
  %wa = nn.reshape %0 : tensor<2x16xbf16> -> tensor<32xbf16>
  %wb = nn.reshape %1 : tensor<2x16xbf16> -> tensor<32xbf16>
  %wc = nn.reshape %2 : tensor<2x16xbf16> -> tensor<32xbf16>
  %3 = nn.kernel(%x, %wa : tensor<32xbf16>, tensor<32xbf16>) {
  ^bb0(%p: tensor<32xbf16>, %q: tensor<32xbf16>):
    %6 = nn.max %p, %q : tensor<32xbf16>
    nn.yield %6 : tensor<32xbf16>
  } -> tensor<32xbf16>
  %4 = nn.kernel(%3, %wb : tensor<32xbf16>, tensor<32xbf16>) {
  ^bb0(%p: tensor<32xbf16>, %q: tensor<32xbf16>):
    %6 = nn.max %p, %q : tensor<32xbf16>
    nn.yield %6 : tensor<32xbf16>
  } -> tensor<32xbf16>
  %5 = nn.kernel(%4, %wc : tensor<32xbf16>, tensor<32xbf16>) {
  ^bb0(%p: tensor<32xbf16>, %q: tensor<32xbf16>):
    %6 = nn.max %p, %q : tensor<32xbf16>
    nn.yield %6 : tensor<32xbf16>
  } -> tensor<32xbf16>
  return %5 : tensor<32xbf16>
}
