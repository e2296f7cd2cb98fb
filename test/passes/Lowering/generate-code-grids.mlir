// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s

// A thread an element. The last block has threads to spare.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1]>]
// CHECK: llvm.func @kernel.0_0(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.cond_br
// CHECK: math.exp
func.func @thread_makes_an_element(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = nn.kernel (%x : tensor<1000xf32>) {
  ^bb0(%a: tensor<1000xf32>):
    %e = nn.exp %a : tensor<1000xf32>
    nn.yield %e : tensor<1000xf32>
  } -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// A transposition by boxes: the block reads a box, and stores it after a barrier. The last box along
// the longer dimension is not full.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 2, threads = 256, buffers = [0, 1]>]
// CHECK: llvm.func @kernel.0_0
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: llvm.store %{{.*}} : f32
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: llvm.store %{{.*}} : f32
func.func @block_transposes_boxes(%x: tensor<40x17xf32>) -> tensor<17x40xf32> {
  %0 = nn.kernel (%x : tensor<40x17xf32>) {
  ^bb0(%a: tensor<40x17xf32>):
    %t = nn.transpose %a [1, 0] : tensor<40x17xf32> -> tensor<17x40xf32>
    nn.yield %t : tensor<17x40xf32>
  } -> tensor<17x40xf32>
  return %0 : tensor<17x40xf32>
}

// -----

// What is innermost stays there: a thread an element, in the order of the result.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 40, threads = 256, buffers = [0, 1]>]
func.func @inner_dimension_needs_no_squares(%x: tensor<16x40x16xf32>) -> tensor<40x16x16xf32> {
  %0 = nn.kernel (%x : tensor<16x40x16xf32>) {
  ^bb0(%a: tensor<16x40x16xf32>):
    %t = nn.transpose %a [1, 0, 2] : tensor<16x40x16xf32> -> tensor<40x16x16xf32>
    nn.yield %t : tensor<40x16x16xf32>
  } -> tensor<40x16x16xf32>
  return %0 : tensor<40x16x16xf32>
}

// -----

// A block a row: the exponentials of the row are in shared memory, their sum is
// made by shuffles, and no scratch memory is needed.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 64, threads = 256, buffers = [0, 1]>]
// CHECK-SAME: exec.scratch_bytes = 0
// CHECK: llvm.mlir.global internal @kernel.0_0_shared
// CHECK: nvvm.shfl.sync down
// CHECK: nvvm.barrier0
func.func @block_makes_a_row(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = nn.kernel (%x : tensor<64x1000xf32>) {
  ^bb0(%a: tensor<64x1000xf32>):
    %s = nn.softmax %a dim 1 : tensor<64x1000xf32>
    nn.yield %s : tensor<64x1000xf32>
  } -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// -----

// What a later launch reads of an earlier one passes through scratch memory,
// which is buffer 2: no barrier stands in either.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: blocks = 1, threads = 256, buffers = [0, 2]>
// CHECK-SAME: buffers = [0, 1, 2]>]
// CHECK-SAME: exec.scratch_bytes = 64
func.func @launches_share_scratch(%x: tensor<8000xf32>) -> tensor<8000xf32> {
  %0 = nn.kernel (%x : tensor<8000xf32>) {
  ^bb0(%a: tensor<8000xf32>):
    %s = nn.reduce sum %a [0] : tensor<8000xf32> -> tensor<f32>
    %b = nn.broadcast %s [] : tensor<f32> -> tensor<8000xf32>
    %r = nn.sub %a, %b : tensor<8000xf32>
    nn.yield %r : tensor<8000xf32>
  } -> tensor<8000xf32>
  return %0 : tensor<8000xf32>
}

// -----

// Many blocks share the terms of one sum, and add them up in f64; in the second
// launch a block adds up what they have made, which is in scratch memory.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 21, threads = 256, buffers = [0, 2]>,
// CHECK-SAME: #exec.grid<entry = "_1", blocks = 1, threads = 256, buffers = [1, 2]>]
// CHECK-SAME: exec.scratch_bytes = 192
// CHECK: module @kernel.0 attributes {exec.launch_ops = ["reduce:f32", "reduce.parts:f32"]
// CHECK: llvm.func @kernel.0_0
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: arith.extf
// CHECK: arith.addf %{{.*}} : f64
// CHECK: nvvm.barrier0
// CHECK: llvm.func @kernel.0_1
// CHECK-NOT: !llvm.ptr -> f32
// CHECK: arith.truncf
func.func @parts_of_sums(%x: tensor<90000xf32>) -> tensor<f32> {
  %0 = nn.kernel (%x : tensor<90000xf32>) {
  ^bb0(%a: tensor<90000xf32>):
    %s = nn.reduce sum %a [0] : tensor<90000xf32> -> tensor<f32>
    nn.yield %s : tensor<f32>
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The threads of a block have neighbouring columns, which are read together: 32
// in each of two blocks, and 8 threads share a column's terms.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 2, threads = 256, buffers = [0, 1]>]
// CHECK: llvm.func @kernel.0_0
// CHECK: nvvm.barrier0
func.func @threads_share_columns(%x: tensor<100x40xf32>) -> tensor<40xf32> {
  %0 = nn.kernel (%x : tensor<100x40xf32>) {
  ^bb0(%a: tensor<100x40xf32>):
    %s = nn.reduce sum %a [0] : tensor<100x40xf32> -> tensor<40xf32>
    nn.yield %s : tensor<40xf32>
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// Fewer terms than threads are worth: a thread, or a block, makes each sum.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 1, threads = 64, buffers = [0, 1]>]
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @thread_sums_short_columns(%x: tensor<30x40xf32>) -> tensor<40xf32> {
  %0 = nn.kernel (%x : tensor<30x40xf32>) {
  ^bb0(%a: tensor<30x40xf32>):
    %s = nn.reduce sum %a [0] : tensor<30x40xf32> -> tensor<40xf32>
    nn.yield %s : tensor<40xf32>
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// An op that fills its result divides it into parts: lines, here.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: blocks = 1, threads = 32, buffers = [0, 1]>
func.func @threads_take_parts(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.kernel (%x : tensor<8x8xf32>) {
  ^bb0(%a: tensor<8x8xf32>):
    %s = nn.cumsum %a dim 0 : tensor<8x8xf32>
    nn.yield %s : tensor<8x8xf32>
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A block a tile of a product: slices of the factors lie in one piece of shared memory, with
// barriers around their use, and what is elementwise over the product is made
// where its elements are: the kernel has one launch, and no scratch memory.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 2]>]
// CHECK-SAME: exec.scratch_bytes = 0
// CHECK: llvm.mlir.global internal @kernel.0_0_shared0()
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @kernel.0_0
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK: math.tanh
func.func @block_makes_a_tile(%x: tensor<40x24xf32>, %y: tensor<24x40xf32>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y : tensor<40x24xf32>, tensor<24x40xf32>) {
  ^bb0(%a: tensor<40x24xf32>, %b: tensor<24x40xf32>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf32>, tensor<24x40xf32> -> tensor<40x40xf32>
    %r = nn.tanh %p : tensor<40x40xf32>
    nn.yield %r : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// A result may be wider than the factors: it is made in tiles too, with sums of its type.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 2]>]
// CHECK: nvvm.barrier0
// CHECK-NOT: arith.truncf
// CHECK: llvm.store %{{.*}} : f32
// CHECK: llvm.return
func.func @tile_of_wide_sums(%x: tensor<40x24xbf16>, %y: tensor<24x40xbf16>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y : tensor<40x24xbf16>, tensor<24x40xbf16>) {
  ^bb0(%a: tensor<40x24xbf16>, %b: tensor<24x40xbf16>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<40x24xbf16>, tensor<24x40xbf16> -> tensor<40x40xf32>
    nn.yield %p : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// So is the gradient of a convolution's weight.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 5, threads = 256, buffers = [0, 1, 2]>]
// CHECK: nvvm.barrier0
func.func @tile_of_wide_weight_gradient(%x: tensor<2x16x9x9xbf16>, %y: tensor<2x32x9x9xbf16>) -> tensor<32x16x3x3xf32> {
  %0 = nn.kernel (%x, %y : tensor<2x16x9x9xbf16>, tensor<2x32x9x9xbf16>) {
  ^bb0(%a: tensor<2x16x9x9xbf16>, %b: tensor<2x32x9x9xbf16>):
    %p = nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x16x9x9xbf16>, tensor<2x32x9x9xbf16> -> tensor<32x16x3x3xf32>
    nn.yield %p : tensor<32x16x3x3xf32>
  } -> tensor<32x16x3x3xf32>
  return %0 : tensor<32x16x3x3xf32>
}

// -----

// A product that is narrower than a tile is a sum for each element.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 3, threads = 256, buffers = [0, 1, 2]>]
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @narrow_product_has_no_tiles(%x: tensor<40x24xf32>, %y: tensor<24x15xf32>) -> tensor<40x15xf32> {
  %0 = nn.kernel (%x, %y : tensor<40x24xf32>, tensor<24x15xf32>) {
  ^bb0(%a: tensor<40x24xf32>, %b: tensor<24x15xf32>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf32>, tensor<24x15xf32> -> tensor<40x15xf32>
    nn.yield %p : tensor<40x15xf32>
  } -> tensor<40x15xf32>
  return %0 : tensor<40x15xf32>
}

// -----

// A block owns rows of a table, and adds to them, in their order, the updates
// that are theirs: its threads share a row. The lanes of a warp look at 32 indices at once.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 500, threads = 64, buffers = [0, 1, 2]>]
// CHECK: nvvm.barrier0
// CHECK: nvvm.vote.ballot.sync
// CHECK: llvm.intr.ctpop
// CHECK: llvm.intr.cttz
func.func @block_owns_table_rows(%x: tensor<300x64xf32>, %y: tensor<300xi64>) -> tensor<1000x64xf32> {
  %0 = nn.kernel (%x, %y : tensor<300x64xf32>, tensor<300xi64>) {
  ^bb0(%a: tensor<300x64xf32>, %b: tensor<300xi64>):
    %p = nn.scatter_add %a, %b dim 0 : tensor<300x64xf32>, tensor<300xi64> -> tensor<1000x64xf32>
    nn.yield %p : tensor<1000x64xf32>
  } -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}

// -----

// The scores of a tile of queries stay in registers, and no tensor of all scores
// exists.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: #exec.grid<entry = "_0", blocks = 6,
// CHECK-SAME: exec.scratch_bytes = 0
// CHECK: llvm.mlir.global internal @kernel.0_0_shared
// CHECK: nvvm.barrier0
// CHECK: llvm.nvvm.ex2.approx
func.func @block_holds_attention_scores(%q: tensor<2x3x40x16xf32>) -> (tensor<2x3x40x16xf32>, tensor<2x3x40xf32>) {
  %0:2 = nn.kernel (%q : tensor<2x3x40x16xf32>) {
  ^bb0(%a: tensor<2x3x40x16xf32>):
    %o, %l = nn.attention %a, %a, %a rows 2 scale 2.500000e-01 : tensor<2x3x40x16xf32>, tensor<2x3x40x16xf32>, tensor<2x3x40x16xf32> -> tensor<2x3x40x16xf32>, tensor<2x3x40xf32>
    nn.yield %o, %l : tensor<2x3x40x16xf32>, tensor<2x3x40xf32>
  } -> tensor<2x3x40x16xf32>, tensor<2x3x40xf32>
  return %0#0, %0#1 : tensor<2x3x40x16xf32>, tensor<2x3x40xf32>
}

// -----

// Its gradient has two launches: one for the gradients of keys and values, one for
// those of queries. Too few queries are decomposed instead.
// CHECK-LABEL: func.func private @kernel.0
// CHECK: llvm.func @kernel.0_0
// CHECK: llvm.func @kernel.0_1
// CHECK-NOT: llvm.func @kernel.0_2
func.func @attention_gradient_has_two_launches(%q: tensor<6x40x16xf32>, %l: tensor<6x40xf32>) -> tensor<6x40x16xf32> {
  %0 = nn.kernel (%q, %l : tensor<6x40x16xf32>, tensor<6x40xf32>) {
  ^bb0(%a: tensor<6x40x16xf32>, %b: tensor<6x40xf32>):
    %dq, %dk, %dv = nn.attention_grad %a, %a, %a, %b, %b, %a rows 1 scale 2.500000e-01 : tensor<6x40x16xf32>, tensor<6x40x16xf32>, tensor<6x40x16xf32>, tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40x16xf32> -> tensor<6x40x16xf32>, tensor<6x40x16xf32>, tensor<6x40x16xf32>
    nn.yield %dq : tensor<6x40x16xf32>
  } -> tensor<6x40x16xf32>
  return %0 : tensor<6x40x16xf32>
}

// -----

// Few elements of one row: one thread makes them, and reports say so.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 1, threads = 32, buffers = [0, 1, 2], lone = true>]
func.func @one_thread_makes_few_elements(%x: tensor<1x20xf32>) -> tensor<1x3xf32> {
  %0 = nn.kernel (%x : tensor<1x20xf32>) {
  ^bb0(%a: tensor<1x20xf32>):
    %v, %i = nn.top_k %a dim 1 {k = 3 : i64} : tensor<1x20xf32> -> tensor<1x3xf32>, tensor<1x3xi64>
    nn.yield %v : tensor<1x3xf32>
  } -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

// Indices have 32 bits where all of them fit.
// CHECK-LABEL: func.func private @kernel.0
// CHECK: arith.remui {{.*}} : i32
// CHECK-NOT: arith.divui {{.*}} : i64
// CHECK-NOT: arith.remui {{.*}} : i64
// CHECK: llvm.return
func.func @narrow_indices(%x: tensor<4x130x384xf32>) -> tensor<4x130x100xf32> {
  %0 = nn.kernel (%x : tensor<4x130x384xf32>) {
  ^bb0(%a: tensor<4x130x384xf32>):
    %p = nn.slice %a starts [0, 0, 7] limits [4, 130, 107] strides [1, 1, 1] : tensor<4x130x384xf32> -> tensor<4x130x100xf32>
    nn.yield %p : tensor<4x130x100xf32>
  } -> tensor<4x130x100xf32>
  return %0 : tensor<4x130x100xf32>
}

// -----

// The number of an element reaches 2^31: it has 64 bits, and so has its quotient. The rest by 99 is
// a number of 32 bits, but computed from one of 64.
// CHECK-LABEL: func.func private @kernel.0
// CHECK: arith.remui {{.*}} : i64
// CHECK: arith.divui {{.*}} : i64
// CHECK: llvm.return
func.func @wide_indices(%x: tensor<21691755x101xi8>) -> tensor<21691755x99xi8> {
  %0 = nn.kernel (%x : tensor<21691755x101xi8>) {
  ^bb0(%a: tensor<21691755x101xi8>):
    %p = nn.slice %a starts [0, 1] limits [21691755, 100] strides [1, 1] : tensor<21691755x101xi8> -> tensor<21691755x99xi8>
    nn.yield %p : tensor<21691755x99xi8>
  } -> tensor<21691755x99xi8>
  return %0 : tensor<21691755x99xi8>
}

// -----

// A row is padded where it is computed: a block stores its own row, with zeros at the end.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 512, threads = 256, buffers = [0, 1]>]
// CHECK-SAME: exec.scratch_bytes = 0
func.func @row_is_padded_in_place(%x: tensor<512x1008xf32>) -> tensor<512x1008xbf16> {
  %0 = nn.kernel (%x : tensor<512x1008xf32>) {
  ^bb0(%a: tensor<512x1008xf32>):
    %s = nn.slice %a starts [0, 0] limits [512, 1003] strides [1, 1] : tensor<512x1008xf32> -> tensor<512x1003xf32>
    %e = nn.exp %s : tensor<512x1003xf32>
    %r = nn.reduce sum %e [1] : tensor<512x1003xf32> -> tensor<512xf32>
    %b = nn.broadcast %r [0] : tensor<512xf32> -> tensor<512x1003xf32>
    %d = nn.div %e, %b : tensor<512x1003xf32>
    %c = nn.convert %d : tensor<512x1003xf32> -> tensor<512x1003xbf16>
    %z = nn.constant dense<0.0> : tensor<bf16>
    %p = nn.pad %c, %z low [0, 0] high [0, 5] interior [0, 0] : tensor<512x1003xbf16>, tensor<bf16> -> tensor<512x1008xbf16>
    nn.yield %p : tensor<512x1008xbf16>
  } -> tensor<512x1008xbf16>
  return %0 : tensor<512x1008xbf16>
}

// -----

// The launch that adds up parts of sums over columns also divides the sums.
// CHECK-LABEL: func.func private @kernel.0
// CHECK: exec.launches = [
// CHECK-SAME: entry = "_0"
// CHECK-SAME: entry = "_1"
// CHECK-NOT: entry = "_2"
// CHECK: llvm.func @kernel.0_0
func.func @sums_are_finished(%x: tensor<5000x64xf32>, %n: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.kernel (%x, %n : tensor<5000x64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<5000x64xf32>, %b: tensor<64xf32>):
    %s = nn.reduce sum %a [0] : tensor<5000x64xf32> -> tensor<64xf32>
    %d = nn.div %s, %b : tensor<64xf32>
    nn.yield %d : tensor<64xf32>
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A sum over columns whose terms need a value in a register and one in memory is beside the sum that needs the register alone.
// CHECK-LABEL: func.func private @kernel.0
// CHECK: exec.launches = [
// CHECK-SAME: entry = "_0"
// CHECK-SAME: entry = "_1"
// CHECK-NOT: entry = "_2"
// CHECK: llvm.func @kernel.0_0
func.func @sums_share_a_value(%x: tensor<640x64xf32>, %y: tensor<640x64xf32>) -> (tensor<640x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0:3 = nn.kernel (%x, %y : tensor<640x64xf32>, tensor<640x64xf32>) {
  ^bb0(%a: tensor<640x64xf32>, %b: tensor<640x64xf32>):
    %e = nn.exp %a : tensor<640x64xf32>
    %s = nn.reduce sum %e [0] : tensor<640x64xf32> -> tensor<64xf32>
    %p = nn.mul %e, %b : tensor<640x64xf32>
    %t = nn.reduce sum %p [0] : tensor<640x64xf32> -> tensor<64xf32>
    nn.yield %e, %s, %t : tensor<640x64xf32>, tensor<64xf32>, tensor<64xf32>
  } -> tensor<640x64xf32>, tensor<64xf32>, tensor<64xf32>
  return %0#0, %0#1, %0#2 : tensor<640x64xf32>, tensor<64xf32>, tensor<64xf32>
}
