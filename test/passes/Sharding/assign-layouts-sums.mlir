// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=4 batch-axes=data' | FileCheck %s

// How an op is placed: which of two loops gets an axis, when a sum is reduced, and how results lie.

// Of two loops over one axis the one gets it with which less has to be moved: the first ...
// CHECK-LABEL: module @axis_shards_larger_first_loop
// CHECK: dist.reshard %arg1 from <"[(64: data)]"> to <"[64]">
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(65536: data)], [64]">]
module @axis_shards_larger_first_loop {
func.func @step(%x: tensor<65536xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %y: tensor<64xf32> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<65536x64xf32> {nn.result = #nn.result<output "z">}) {
  %0 = nn.dot %x, %y contract [] [] : tensor<65536xf32>, tensor<64xf32> -> tensor<65536x64xf32>
  return %0 : tensor<65536x64xf32>
}
}

// -----

// ... or the second.
// CHECK-LABEL: module @axis_shards_larger_second_loop
// CHECK: dist.reshard %arg0 from <"[(64: data)]"> to <"[64]">
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[64], [(65536: data)]">]
module @axis_shards_larger_second_loop {
func.func @step(%x: tensor<64xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %y: tensor<65536xf32> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<64x65536xf32> {nn.result = #nn.result<output "z">}) {
  %0 = nn.dot %x, %y contract [] [] : tensor<64xf32>, tensor<65536xf32> -> tensor<64x65536xf32>
  return %0 : tensor<64x65536xf32>
}
}

// -----

// A partial sum that would be reduced behind each of two readers is reduced before them, once.
// CHECK-LABEL: module @reduces_sum_before_two_readers
// CHECK: %[[PART:.*]] = nn.reduce sum
// CHECK-NEXT: dist.reshard %[[PART]] from <"[64], [64] partial sum(data)"> to <"[64], [64]">
// CHECK-NOT: dist.reshard
// CHECK: return
module @reduces_sum_before_two_readers {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64x64xf32> {nn.result = #nn.result<metric "y">}, tensor<64x64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.neg %0 : tensor<64x64xf32>
  %2 = nn.exp %1 : tensor<64x64xf32>
  %3 = nn.transpose %0 [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %4 = nn.tanh %3 : tensor<64x64xf32>
  return %2, %4 : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// It is not where both readers have less of it, ...
// CHECK-LABEL: module @reduces_after_two_smaller_readers
// CHECK: nn.reduce sum {{.*}}dist.results = [#dist.layout<"[64], [64] partial sum(data)">]
// CHECK-NEXT: nn.reduce sum
// CHECK-NEXT: dist.reshard {{.*}} from <"[64] partial sum(data)"> to <"[64]">
// CHECK: nn.reduce sum
// CHECK-NEXT: dist.reshard {{.*}} from <"[64] partial sum(data)"> to <"[64]">
module @reduces_after_two_smaller_readers {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64xf32> {nn.result = #nn.result<metric "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.reduce sum %0 [0] : tensor<64x64xf32> -> tensor<64xf32>
  %2 = nn.exp %1 : tensor<64xf32>
  %3 = nn.reduce sum %0 [1] : tensor<64x64xf32> -> tensor<64xf32>
  %4 = nn.tanh %3 : tensor<64xf32>
  return %2, %4 : tensor<64xf32>, tensor<64xf32>
}
}

// -----

// ... nor where what they make is added up again, and reduced once behind that.
// CHECK-LABEL: module @reduces_after_sum_of_readers
// CHECK-NOT: dist.reshard
// CHECK: nn.add {{.*}}dist.results = [#dist.layout<"[64], [64] partial sum(data)">]
// CHECK-NEXT: dist.reshard {{.*}} from <"[64], [64] partial sum(data)"> to <"[64], [64]">
// CHECK-NOT: dist.reshard
// CHECK: return
module @reduces_after_sum_of_readers {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64x64xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.neg %0 : tensor<64x64xf32>
  %2 = nn.transpose %0 [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %3 = nn.add %1, %2 : tensor<64x64xf32>
  %4 = nn.exp %3 : tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
}

// -----

// Who needs it whole has it reduced for the others, too: no other sum is left.
// CHECK-LABEL: module @whole_reader_reduces_for_others
// CHECK: %[[PART:.*]] = nn.reduce sum
// CHECK-NEXT: %[[ALL:.*]] = dist.reshard %[[PART]] from <"[64], [64] partial sum(data)"> to <"[64], [64]">
// CHECK: nn.exp %[[ALL]]
// CHECK: nn.reduce sum %[[ALL]] [0]
// CHECK-NOT: dist.reshard
// CHECK: return
module @whole_reader_reduces_for_others {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64x64xf32> {nn.result = #nn.result<metric "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.exp %0 : tensor<64x64xf32>
  %2 = nn.reduce sum %0 [0] : tensor<64x64xf32> -> tensor<64xf32>
  %3 = nn.tanh %2 : tensor<64xf32>
  return %1, %3 : tensor<64x64xf32>, tensor<64xf32>
}
}

// -----

// What is read in one layout by several is brought there once.
// CHECK-LABEL: module @reshards_once_for_two_readers
// CHECK: %[[ALL:.*]] = dist.reshard {{.*}} from <"[(8: data)], [6]"> to <"[8], [6]">
// CHECK-NOT: dist.reshard
// CHECK: nn.reduce prod %[[ALL]] [0]
// CHECK-NOT: dist.reshard
// CHECK: nn.cumsum %[[ALL]] dim 0
// CHECK-NOT: dist.reshard
// CHECK: return
module @reshards_once_for_two_readers {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}, tensor<8x6xf32> {nn.result = #nn.result<output "z">}) {
  %0 = nn.reduce prod %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  %1 = nn.cumsum %x dim 0 : tensor<8x6xf32>
  return %0, %1 : tensor<6xf32>, tensor<8x6xf32>
}
}

// -----

// The host puts an output together from its parts; a metric is whole on every device; state lies as it did before the step.
// CHECK-LABEL: module @places_results_by_their_kind
// CHECK: %[[E:.*]] = nn.exp
// CHECK-NEXT: %[[Z:.*]] = dist.reshard %[[E]] from <"[(64: data)], [256]"> to <"[64], [256]">
// CHECK-NEXT: %[[B:.*]] = dist.reshard %[[E]] from <"[(64: data)], [256]"> to <"[64], [(256: data)]">
// CHECK-NEXT: return %[[E]], %[[Z]], %[[B]]
module @places_results_by_their_kind {
func.func @step(%x: tensor<64x256xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %b: tensor<64x256xf32> {nn.arg = #nn.arg<buffer "b">, dist.layout = #dist.layout<"[64], [(256: data)]">})
    -> (tensor<64x256xf32> {nn.result = #nn.result<output "y">}, tensor<64x256xf32> {nn.result = #nn.result<metric "z">},
        tensor<64x256xf32> {nn.result = #nn.result<state "b">}) {
  %0 = nn.exp %x : tensor<64x256xf32>
  return %0, %0, %0 : tensor<64x256xf32>, tensor<64x256xf32>, tensor<64x256xf32>
}
}

// -----

// What is returned reads a sum as ops do: it would be reduced behind both, and is reduced before them, once.
// CHECK-LABEL: module @reduces_sum_before_two_results
// CHECK: %[[PART:.*]] = nn.reduce sum
// CHECK-NEXT: dist.reshard %[[PART]] from <"[64], [64] partial sum(data)"> to <"[64], [64]">
// CHECK-NOT: dist.reshard
// CHECK: return
module @reduces_sum_before_two_results {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64x64xf32> {nn.result = #nn.result<metric "y">}, tensor<64x64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.neg %0 : tensor<64x64xf32>
  %2 = nn.transpose %0 [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  return %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// Where less of it is returned, that is reduced.
// CHECK-LABEL: module @reduces_smaller_results
// CHECK: nn.reduce sum {{.*}}dist.results = [#dist.layout<"[64], [64] partial sum(data)">]
// CHECK-NEXT: nn.reduce sum
// CHECK-NEXT: nn.reduce sum
// CHECK-COUNT-2: dist.reshard {{.*}} from <"[64] partial sum(data)"> to <"[64]">
// CHECK-NEXT: return
module @reduces_smaller_results {
func.func @step(%x: tensor<8x64x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64xf32> {nn.result = #nn.result<metric "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  %1 = nn.reduce sum %0 [0] : tensor<64x64xf32> -> tensor<64xf32>
  %2 = nn.reduce sum %0 [1] : tensor<64x64xf32> -> tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}
}

// -----

// An op is placed where its result has to be, of two loops that take as much to be read: state, as it was before ...
// CHECK-LABEL: module @state_result_decides_loop
// CHECK: dist.reshard %arg0 from <"[(64: data)], [64]"> to <"[64], [(64: data)]">
// CHECK-NEXT: nn.mul
// CHECK-NEXT: return
module @state_result_decides_loop {
func.func @step(%x: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "x">, dist.layout = #dist.layout<"[(64: data)], [64]">},
                %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(64: data)]">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<state "w">}) {
  %0 = nn.mul %x, %w : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

// ... and what is asked for, as that is.
// CHECK-LABEL: module @request_decides_loop
// CHECK: dist.reshard %arg0 from <"[(64: data)], [64]"> to <"[64], [(64: data)]">
// CHECK-NEXT: nn.mul
// CHECK-NEXT: return
module @request_decides_loop {
func.func @step(%x: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "x">, dist.layout = #dist.layout<"[(64: data)], [64]">},
                %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(64: data)]">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.mul %x, %w {dist.request = [[], ["data"]]} : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

// An output that nobody asks for is made by the first of the two.
// CHECK-LABEL: module @free_output_takes_first_loop
// CHECK: dist.reshard %arg1 from <"[64], [(64: data)]"> to <"[(64: data)], [64]">
// CHECK-NEXT: nn.mul
// CHECK-NEXT: return
module @free_output_takes_first_loop {
func.func @step(%x: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "x">, dist.layout = #dist.layout<"[(64: data)], [64]">},
                %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(64: data)]">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.mul %x, %w : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

// Sums that are converted to more bits and added up are reduced once, behind the addition ...
// CHECK-LABEL: module @reduces_widened_sums_once
// CHECK-NOT: dist.reshard {{.*}} partial sum(data)"> to <"[64]">{{.*}}bf16
// CHECK: %[[S:.*]] = nn.add
// CHECK: %[[T:.*]] = nn.add
// CHECK-NEXT: dist.reshard %[[T]] from <"[64] partial sum(data)"> to <"[64]"> : tensor<64xf32>
// CHECK-NEXT: nn.exp
module @reduces_widened_sums_once {
func.func @step(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x", batch = 0>}, %y: tensor<8x64xbf16> {nn.arg = #nn.arg<input "y", batch = 0>},
                %z: tensor<8x64xbf16> {nn.arg = #nn.arg<input "z", batch = 0>}) -> (tensor<64xf32> {nn.result = #nn.result<metric "m">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %1 = nn.reduce sum %y [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %2 = nn.reduce sum %z [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %a = nn.convert %0 : tensor<64xbf16> -> tensor<64xf32>
  %b = nn.convert %1 : tensor<64xbf16> -> tensor<64xf32>
  %c = nn.convert %2 : tensor<64xbf16> -> tensor<64xf32>
  %s = nn.add %a, %b : tensor<64xf32>
  %t = nn.add %s, %c : tensor<64xf32>
  %e = nn.exp %t : tensor<64xf32>
  return %e : tensor<64xf32>
}
}

// -----

// ... but not where something else reads one of them, which needs it whole.
// CHECK-LABEL: module @other_reader_reduces_narrow_sums
// CHECK-COUNT-2: dist.reshard {{.*}} partial sum(data)"> to <"[64]"> : tensor<64xbf16>
// CHECK-NOT: dist.reshard
// CHECK: return
module @other_reader_reduces_narrow_sums {
func.func @step(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x", batch = 0>}, %y: tensor<8x64xbf16> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<64xf32> {nn.result = #nn.result<metric "m">}, tensor<64xf32> {nn.result = #nn.result<metric "n">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %1 = nn.reduce sum %y [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %a = nn.convert %0 : tensor<64xbf16> -> tensor<64xf32>
  %b = nn.convert %1 : tensor<64xbf16> -> tensor<64xf32>
  %s = nn.add %a, %b : tensor<64xf32>
  %e = nn.exp %a : tensor<64xf32>
  return %s, %e : tensor<64xf32>, tensor<64xf32>
}
}
