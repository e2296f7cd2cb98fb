// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-outline-kernels --dpc-describe-kernels=products=library --dpc-generate-code=products=library | FileCheck %s

// Where a library makes the product, in scratch memory, a launch follows it. The
// library's own memory is behind that.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: #exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 3], call = <product {type = f32, result = f32, tf32 = false, epilogue = none, batches = 1, rows = 40, columns = 40, depth = 24, a = {stride = 24, batchStride = 0, transposed = false}, b = {stride = 40, batchStride = 0, transposed = false}, d = {stride = 40, batchStride = 0, transposed = false}}, buffers = [0, 1, 3, 3 at 6400 for 51456]>>
// CHECK-SAME: #exec.grid<entry = "_1", blocks = 7, threads = 256, buffers = [2, 3]>
// CHECK: llvm.func @kernel.0_0
// CHECK-NOT: math.tanh
// CHECK: llvm.func @kernel.0_1
// CHECK: math.tanh
func.func @launch_follows_library_product(%x: tensor<40x24xf32>, %y: tensor<24x40xf32>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y : tensor<40x24xf32>, tensor<24x40xf32>) {
  ^bb0(%a: tensor<40x24xf32>, %b: tensor<24x40xf32>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf32>, tensor<24x40xf32> -> tensor<40x40xf32>
    %r = nn.tanh %p : tensor<40x40xf32>
    nn.yield %r : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// A vector for the columns is added by the library itself: one launch.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1, 2, 3], call = <product {type = f32, result = f32, tf32 = false, epilogue = bias
// CHECK-SAME: b = {stride = 24, batchStride = 0, transposed = true}
// CHECK-SAME: buffers = [0, 1, 3, 4 for 51456, 2]>
// CHECK-NOT: "_1"
// CHECK: llvm.func @kernel.0_0
func.func @library_adds_bias(%x: tensor<40x24xf32>, %y: tensor<40x24xf32>, %z: tensor<40xf32>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y, %z : tensor<40x24xf32>, tensor<40x24xf32>, tensor<40xf32>) {
  ^bb0(%a: tensor<40x24xf32>, %b: tensor<40x24xf32>, %c: tensor<40xf32>):
    %p = nn.dot %a, %b contract [1] [1] : tensor<40x24xf32>, tensor<40x24xf32> -> tensor<40x40xf32>
    %v = nn.broadcast %c [1] : tensor<40xf32> -> tensor<40x40xf32>
    %r = nn.add %p, %v : tensor<40x40xf32>
    nn.yield %r : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// A factor whose elements are looked up where they are read is no matrix in memory.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-NOT: call =
// CHECK: llvm.func @kernel.0_0
func.func @computed_factor_needs_own_code(%x: tensor<80x24xf32>, %y: tensor<24x40xf32>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y : tensor<80x24xf32>, tensor<24x40xf32>) {
  ^bb0(%a: tensor<80x24xf32>, %b: tensor<24x40xf32>):
    %n = nn.slice %a starts [0, 0] limits [80, 24] strides [2, 1] : tensor<80x24xf32> -> tensor<40x24xf32>
    %p = nn.dot %n, %b contract [1] [0] : tensor<40x24xf32>, tensor<24x40xf32> -> tensor<40x40xf32>
    nn.yield %p : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// -----

// The library also stores the f32 sums of 16-bit factors.
// CHECK-LABEL: func.func private @kernel.0
// CHECK-SAME: call = <product {type = bf16, result = f32, tf32 = false, epilogue = none,
func.func @library_makes_wide_result(%x: tensor<40x24xbf16>, %y: tensor<24x40xbf16>) -> tensor<40x40xf32> {
  %0 = nn.kernel (%x, %y : tensor<40x24xbf16>, tensor<24x40xbf16>) {
  ^bb0(%a: tensor<40x24xbf16>, %b: tensor<24x40xbf16>):
    %p = nn.dot %a, %b contract [1] [0] : tensor<40x24xbf16>, tensor<24x40xbf16> -> tensor<40x40xf32>
    nn.yield %p : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}
