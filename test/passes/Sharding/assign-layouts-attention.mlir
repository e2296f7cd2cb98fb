// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts="axes=data=2 batch-axes=data" | FileCheck %s

// Samples and heads are cut as they are ...
// CHECK-LABEL: module @shards_samples_and_heads
module @shards_samples_and_heads {
func.func @step(%q: tensor<4x6x2x8xf32> {nn.arg = #nn.arg<input "q", batch = 0>},
                %m: tensor<4x6xf32> {nn.arg = #nn.arg<input "m", batch = 0>})
    -> (tensor<4x6x2x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.attention {{.*}}dist.results = [#dist.layout<"[(4: data)], [6], [2], [8]">, #dist.layout<"[(4: data)], [2], [6]">]
  // CHECK: nn.attention_grad {{.*}}dist.results = [#dist.layout<"[(4: data)], [6], [2], [8]">, #dist.layout<"[(4: data)], [6], [2], [8]">, #dist.layout<"[(4: data)], [6], [2], [8]">]
  %y, %l = nn.attention %q, %q, %q mask %m [0, 3] rows 1 scale 1.0 causal
      : tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>, tensor<4x6xf32> -> tensor<4x6x2x8xf32>, tensor<4x2x6xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %l, %l, %y mask %m [0, 3] rows 1 scale 1.0 causal
      : tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>, tensor<4x2x6xf32>, tensor<4x2x6xf32>, tensor<4x6x2x8xf32>, tensor<4x6xf32>
      -> tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>, tensor<4x6x2x8xf32>
  %0 = nn.add %dq, %dk : tensor<4x6x2x8xf32>
  %1 = nn.add %0, %dv : tensor<4x6x2x8xf32>
  return %1 : tensor<4x6x2x8xf32>
}
}

// -----

// ... and so are queries that see all keys, ...
// CHECK-LABEL: module @shards_queries_of_full_attention
module @shards_queries_of_full_attention {
func.func @step(%q: tensor<6x8xf32> {nn.arg = #nn.arg<input "q", batch = 0>}, %k: tensor<6x8xf32> {nn.arg = #nn.arg<constant "k">})
    -> (tensor<6x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.attention {{.*}}dist.results = [#dist.layout<"[(6: data)], [8]">, #dist.layout<"[(6: data)]">]
  %y, %l = nn.attention %q, %k, %k rows 0 scale 1.0 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32> -> tensor<6x8xf32>, tensor<6xf32>
  return %y : tensor<6x8xf32>
}
}

// -----

// ... but not those whose number decides what they see, ...
// CHECK-LABEL: module @decomposes_for_sharded_causal_queries
module @decomposes_for_sharded_causal_queries {
func.func @step(%q: tensor<6x8xf32> {nn.arg = #nn.arg<input "q", batch = 0>}, %k: tensor<6x8xf32> {nn.arg = #nn.arg<constant "k">})
    -> (tensor<6x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK-NOT: nn.attention
  // CHECK: nn.reduce max {{.*}}dist.results = [#dist.layout<"[(6: data)]">]
  %y, %l = nn.attention %q, %k, %k rows 0 scale 1.0 causal : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32> -> tensor<6x8xf32>, tensor<6xf32>
  return %y : tensor<6x8xf32>
}
}

// -----

// ... and not keys.
// CHECK-LABEL: module @decomposes_for_sharded_keys
module @decomposes_for_sharded_keys {
func.func @step(%q: tensor<6x8xf32> {nn.arg = #nn.arg<constant "q">}, %k: tensor<6x8xf32> {nn.arg = #nn.arg<input "k", batch = 0>})
    -> (tensor<6x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK-NOT: nn.attention
  // CHECK: nn.reduce max {{.*}}dist.results = [#dist.layout<"[6] partial max(data)">]
  %y, %l = nn.attention %q, %k, %k rows 0 scale 1.0 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32> -> tensor<6x8xf32>, tensor<6xf32>
  return %y : tensor<6x8xf32>
}
}

// -----

// Of 16-bit rows scores are f32 then, probabilities are rounded as factors of a product, and sums are rounded last.
// CHECK-LABEL: module @decomposes_bf16_with_f32_scores
module @decomposes_bf16_with_f32_scores {
func.func @step(%q: tensor<6x8xbf16> {nn.arg = #nn.arg<constant "q">}, %k: tensor<6x8xbf16> {nn.arg = #nn.arg<input "k", batch = 0>})
    -> (tensor<6x8xbf16> {nn.result = #nn.result<output "y">}) {
  // CHECK-NOT: nn.attention
  // CHECK: nn.dot {{.*}} : tensor<6x8xbf16>, tensor<6x8xbf16> -> tensor<6x6xf32>
  // CHECK: %[[P:.*]] = nn.convert {{.*}} : tensor<6x6xf32> -> tensor<6x6xbf16>
  // CHECK: %[[S:.*]] = nn.dot %[[P]], {{.*}} : tensor<6x6xbf16>, tensor<6x8xbf16> -> tensor<6x8xf32>
  // CHECK: nn.convert %[[S]] {{.*}} : tensor<6x8xf32> -> tensor<6x8xbf16>
  %y, %l = nn.attention %q, %k, %k rows 0 scale 1.0 : tensor<6x8xbf16>, tensor<6x8xbf16>, tensor<6x8xbf16> -> tensor<6x8xbf16>, tensor<6xf32>
  return %y : tensor<6x8xbf16>
}
}
