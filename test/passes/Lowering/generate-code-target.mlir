// RUN: dpc-opt %s --dpc-describe-machine=target=scalar --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s --check-prefix=SCALAR
// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s --check-prefix=CPU
// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s --check-prefix=ROWS

// A product in tiles of vectors, and as plain loops.
// CPU: vector<8xf32>
// SCALAR: @kernel.0.body
// SCALAR-NOT: vector
// SCALAR: llvm.return
func.func @product_in_tiles_or_loops(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = nn.kernel (%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) {
  ^bb0(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>):
    %s = nn.dot %a, %b batch [] [] contract [1] [0] : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    nn.yield %s : tensor<32x32xf32>
  } -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// A loop over all rows of two dimensions: what a row makes needs no memory
// beside a row of exponentials, and the result may lie on the operand.
// ROWS: func.func private @kernel.1({{.*}}exec.may_alias = [array<i64: 0>], exec.scratch_bytes = 64
func.func @row_result_may_alias(%x: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.kernel (%x : tensor<4x8x16xf32>) {
  ^bb0(%a: tensor<4x8x16xf32>):
    %s = nn.softmax %a dim 2 : tensor<4x8x16xf32>
    nn.yield %s : tensor<4x8x16xf32>
  } -> tensor<4x8x16xf32>
  return %0 : tensor<4x8x16xf32>
}

// The running sum reads the only element, which is then at hand for the copy: the other
// result may take its place before.
// ROWS: func.func private @kernel.2({{.*}}exec.may_alias = [array<i64>, array<i64: 0>], exec.scratch_bytes = 64
func.func @single_element_may_alias(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %0:2 = nn.kernel (%x : tensor<1xf32>) {
  ^bb0(%a: tensor<1xf32>):
    %s = nn.cumsum %a dim 0 : tensor<1xf32>
    %t = nn.add %s, %s : tensor<1xf32>
    nn.yield %a, %t : tensor<1xf32>, tensor<1xf32>
  } -> tensor<1xf32>, tensor<1xf32>
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xf32>
}
