// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every elementwise op prints what it parses.
// CHECK-LABEL: @elementwise_ops_round_trip
func.func @elementwise_ops_round_trip(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %i: tensor<4x8xi32>, %c: tensor<4x8xi1>) {
  // CHECK: nn.neg %{{.*}} : tensor<4x8xf32>
  %neg = nn.neg %x : tensor<4x8xf32>
  // CHECK: nn.abs %{{.*}} : tensor<4x8xf32>
  %abs = nn.abs %x : tensor<4x8xf32>
  // CHECK: nn.sign %{{.*}} : tensor<4x8xf32>
  %sign = nn.sign %x : tensor<4x8xf32>
  // CHECK: nn.relu %{{.*}} : tensor<4x8xf32>
  %relu = nn.relu %x : tensor<4x8xf32>
  // CHECK: nn.exp %{{.*}} : tensor<4x8xf32>
  %exp = nn.exp %x : tensor<4x8xf32>
  // CHECK: nn.log %{{.*}} : tensor<4x8xf32>
  %log = nn.log %x : tensor<4x8xf32>
  // CHECK: nn.log1p %{{.*}} : tensor<4x8xf32>
  %log1p = nn.log1p %x : tensor<4x8xf32>
  // CHECK: nn.sqrt %{{.*}} : tensor<4x8xf32>
  %sqrt = nn.sqrt %x : tensor<4x8xf32>
  // CHECK: nn.rsqrt %{{.*}} : tensor<4x8xf32>
  %rsqrt = nn.rsqrt %x : tensor<4x8xf32>
  // CHECK: nn.sin %{{.*}} : tensor<4x8xf32>
  %sin = nn.sin %x : tensor<4x8xf32>
  // CHECK: nn.cos %{{.*}} : tensor<4x8xf32>
  %cos = nn.cos %x : tensor<4x8xf32>
  // CHECK: nn.tan %{{.*}} : tensor<4x8xf32>
  %tan = nn.tan %x : tensor<4x8xf32>
  // CHECK: nn.asin %{{.*}} : tensor<4x8xf32>
  %asin = nn.asin %x : tensor<4x8xf32>
  // CHECK: nn.acos %{{.*}} : tensor<4x8xf32>
  %acos = nn.acos %x : tensor<4x8xf32>
  // CHECK: nn.atan %{{.*}} : tensor<4x8xf32>
  %atan = nn.atan %x : tensor<4x8xf32>
  // CHECK: nn.sinh %{{.*}} : tensor<4x8xf32>
  %sinh = nn.sinh %x : tensor<4x8xf32>
  // CHECK: nn.cosh %{{.*}} : tensor<4x8xf32>
  %cosh = nn.cosh %x : tensor<4x8xf32>
  // CHECK: nn.tanh %{{.*}} : tensor<4x8xf32>
  %tanh = nn.tanh %x : tensor<4x8xf32>
  // CHECK: nn.asinh %{{.*}} : tensor<4x8xf32>
  %asinh = nn.asinh %x : tensor<4x8xf32>
  // CHECK: nn.acosh %{{.*}} : tensor<4x8xf32>
  %acosh = nn.acosh %x : tensor<4x8xf32>
  // CHECK: nn.atanh %{{.*}} : tensor<4x8xf32>
  %atanh = nn.atanh %x : tensor<4x8xf32>
  // CHECK: nn.erf %{{.*}} : tensor<4x8xf32>
  %erf = nn.erf %x : tensor<4x8xf32>
  // CHECK: nn.sigmoid %{{.*}} : tensor<4x8xf32>
  %sigmoid = nn.sigmoid %x : tensor<4x8xf32>
  // CHECK: nn.softplus %{{.*}} : tensor<4x8xf32>
  %softplus = nn.softplus %x : tensor<4x8xf32>
  // CHECK: nn.floor %{{.*}} : tensor<4x8xf32>
  %floor = nn.floor %x : tensor<4x8xf32>
  // CHECK: nn.ceil %{{.*}} : tensor<4x8xf32>
  %ceil = nn.ceil %x : tensor<4x8xf32>
  // CHECK: nn.round %{{.*}} : tensor<4x8xf32>
  %round = nn.round %x : tensor<4x8xf32>
  // CHECK: nn.stop_gradient %{{.*}} : tensor<4x8xf32>
  %stop = nn.stop_gradient %x : tensor<4x8xf32>
  // CHECK: nn.gelu none %{{.*}} : tensor<4x8xf32>
  %gn = nn.gelu none %x : tensor<4x8xf32>
  // CHECK: nn.gelu tanh %{{.*}} : tensor<4x8xf32>
  %gt = nn.gelu tanh %x : tensor<4x8xf32>
  // CHECK: nn.not %{{.*}} : tensor<4x8xi32>
  %not = nn.not %i : tensor<4x8xi32>
  // CHECK: nn.is_nan %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %nan = nn.is_nan %x : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.is_inf %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %inf = nn.is_inf %x : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %add = nn.add %x, %y : tensor<4x8xf32>
  // CHECK: nn.sub %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %sub = nn.sub %x, %y : tensor<4x8xf32>
  // CHECK: nn.mul %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %mul = nn.mul %x, %y : tensor<4x8xf32>
  // CHECK: nn.div %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %div = nn.div %x, %y : tensor<4x8xf32>
  // CHECK: nn.pow %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %pow = nn.pow %x, %y : tensor<4x8xf32>
  // CHECK: nn.max %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %max = nn.max %x, %y : tensor<4x8xf32>
  // CHECK: nn.min %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %min = nn.min %x, %y : tensor<4x8xf32>
  // CHECK: nn.rem %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %rem = nn.rem %x, %y : tensor<4x8xf32>
  // CHECK: nn.mod %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %mod = nn.mod %x, %y : tensor<4x8xf32>
  // CHECK: nn.and %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %and = nn.and %i, %i : tensor<4x8xi32>
  // CHECK: nn.or %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %or = nn.or %i, %i : tensor<4x8xi32>
  // CHECK: nn.xor %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %xor = nn.xor %i, %i : tensor<4x8xi32>
  // CHECK: nn.shift_left %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %shift_left = nn.shift_left %i, %i : tensor<4x8xi32>
  // CHECK: nn.shift_right %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %shift_right = nn.shift_right %i, %i : tensor<4x8xi32>
  // CHECK: nn.compare eq %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %ceq = nn.compare eq %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare ne %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %cne = nn.compare ne %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare lt %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %clt = nn.compare lt %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare le %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %cle = nn.compare le %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare gt %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %cgt = nn.compare gt %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare ge %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %cge = nn.compare ge %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
  %sel = nn.select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK: nn.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %cl = nn.clamp %x, %y, %y : tensor<4x8xf32>
  // CHECK: nn.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xf64>
  %cv = nn.convert %x : tensor<4x8xf32> -> tensor<4x8xf64>
  return
}
