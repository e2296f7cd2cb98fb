#ifndef DPC_PASSES_NORMALIZE_PASSES_TD
#define DPC_PASSES_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"dpc-widen-floats", "mlir::ModuleOp"> {
  let summary = "Turns every float type into f64";
  let description = [{
    Arguments, results, constants and variables: a program in f64 computes
    everything in f64, a Cast to float included. Values are widened, never
    parsed again, so 0.1f stays the f32 number nearest to 0.1.

    Needs: level `import`. Keeps: the level.

    ```mlir
    %c = nn.constant dense<0.5> : tensor<4xf32>
    // becomes
    %c = nn.constant dense<0.5> : tensor<4xf64>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RecordBounds : Pass<"dpc-record-bounds", "mlir::func::FuncOp"> {
  let summary = "Records on inputs and labels which integers the program can take";
  let description = [{
    An input that selects (a token of an embedding, a label of a cross-entropy)
    must lie in what it selects from. Walks each function backwards from the ops
    that index, through those that only move integers, and writes `nn.bounds` on
    the arguments it meets. The runtime checks data against it: generated code
    does not.

    Each element has bounds of its own: columns of one input may index different
    tables. Where samples differ, a sample has what all of them allow, for the
    host may put any row of the data there.

    Indices that are computed are not followed, but for `x + constant` and the two
    usual forms `x < 0 ? x + n : x` and `x == ignored ? .. : x`.

    Needs: static shapes, not yet cut by a layout. Keeps: everything else.

    ```mlir
    func.func @infer(%i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">}) ..
      %y = nn.gather %table, %i dim 0 : tensor<100x16xf32>, tensor<4xi64> -> tensor<4x16xf32>
    // becomes
    func.func @infer(%i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">, nn.bounds = array<i64: 0, 99>}) ..
    // columns of which two index tables of 5 and the third one of 9 rows:
    nn.bounds = [array<i64: 2, 0, 4>, array<i64: 1, 0, 8>]
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def FormAttention : Pass<"dpc-form-attention", "mlir::ModuleOp"> {
  let summary = "Turns a product, a softmax and a product into nn.attention";
  let description = [{
    Takes together: the product of queries and keys; a scale of its result or of
    either factor; what masks it; `nn.softmax` over the keys, with or without the
    select by which exporters put 0 for NaN; the product with the values. Heads
    are read and written where the projections around have them: transpositions
    between are left to canonicalization, most of them meet their inverse.

    What masks are added tensors that need no gradient, and selects of -infinity;
    broadcasts are taken off them, and several are added to each other. A constant
    that hides (by -1e9 or less) exactly the keys behind each query becomes
    `causal`; with a finite number only beside masks that cannot hide the others
    too, or the keys behind would have weights again.

    Left alone: scores or probabilities that are used elsewhere, dropout between
    softmax and product, masks whose sum is as large as the scores, a select of a
    finite number that is not causal or stands beside a mask that may hide the
    other keys (a row without keys has equal weights then), other types than f32
    and f64, and in `@step` a mask that depends on a parameter.

    Needs: training forms are gone from functions to be formed in. Keeps: the
    level; ops that became useless stay for canonicalization.

    ```mlir
    %s = nn.dot %q, %k batch [0] [0] contract [2] [2] : ..
    %t = nn.mul %s, %eighth : tensor<4x12x12xf32>
    %p = nn.softmax %t dim 2 : tensor<4x12x12xf32>
    %y = nn.dot %p, %v batch [0] [0] contract [2] [1] : ..
    // becomes
    %y, %l = nn.attention %q, %k, %v rows 1 scale 0.125 : ..
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def FormBatchGathers : Pass<"dpc-form-batch-gathers", "mlir::ModuleOp"> {
  let summary = "Makes index tuples that name their own sample batch dimensions";
  let description = [{
    A model that picks a row of each sample, x[arange(B), i], is exported as one
    that picks B rows of all samples. Layouts cannot know that no sample reads
    another's rows and hold x whole; with the sample's index as a batch dimension
    of the op they cut x like everything else. These forms are taken:

    * the first component of the tuples of `nn.gather_nd` or `nn.scatter_nd` is
      the tuple's own index (a constant, however computed): the component goes,
      `batchDims` grows. What is left is not asked to be in range, as the op asks
      the same of it as before;
    * `nn.gather` of rows b * n + i from samples of n rows each that lie in one
      dimension, where 0 <= i < n is known by ranges of integers: `nn.gather_nd`
      of i on samples. An i that may be negative reads the sample before;
    * both with the sample second, x[i, arange(B)] and i * B + b:
      `nn.gather_elements` along the first dimension, so that nothing moves;
    * all components of the tuples of `nn.gather_nd` are own indices: a
      broadcast. So masks are looked up.

    A choice whose outcome is known (`x < 0 ? x + n : x` for an x that is never
    negative) is taken off the indices that are left.

    Left alone: a batch of one sample, the sample behind more than one component
    or second in `nn.scatter_nd`, indices that have other extents than what they
    index.

    Needs: static shapes. Keeps: the level. Pure ops without uses are erased.

    ```mlir
    %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
    %y = nn.gather_nd %x, %t : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
    // becomes
    %y = nn.gather_nd %x, %i {batchDims = 1 : i64} : tensor<4x9x3xf32>, tensor<4x1xi64> -> tensor<4x3xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_NORMALIZE_PASSES_TD
