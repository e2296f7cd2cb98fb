#ifndef DPC_PASSES_NORMALIZE_PASSES_TD
#define DPC_PASSES_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"dpc-widen-floats", "mlir::ModuleOp"> {
  let summary = "Turns every float type into f64";
  let description = [{
    Changes the types of arguments, results, constants and variables, so that a program
    in f64 computes everything in f64, even the result of a Cast to float. Constants are
    converted from their f32 values, not parsed again, so 0.1f stays the f32 number
    nearest to 0.1.

    Needs: level `import`. Keeps: the level.

    ```mlir
    %c = nn.constant dense<0.5> : tensor<4xf32>
    // becomes
    %c = nn.constant dense<0.5> : tensor<4xf64>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RoundLookups : Pass<"dpc-round-lookups", "mlir::func::FuncOp"> {
  let summary = "Rounds rows of a table that products read in fewer bits";
  let description = [{
    If a parameter is converted to a narrower type, lookups in the parameter are rounded
    to this type as well. An example is a tied token table, which the last product reads
    in bf16. Only the update of the parameter then needs all of its bits, so
    `dpc-divide-updates` can keep and gather the parameter in the narrow type. The pass
    rounds the rows after the lookup, which gives the same values as a conversion of the
    table and is less work.

    Needs: gradients (`dpc-differentiate`), if the program has any, because the gradient
    of a row must not be rounded. Keeps: the level.

    ```mlir
    func.func @example(%t: tensor<9x8xf32> {nn.arg = #nn.arg<parameter "t">}, %i: tensor<4xi64>)
        -> (tensor<4x8xf32>, tensor<9x8xbf16>) {
      %x = nn.gather %t, %i dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
      %n = nn.convert %t : tensor<9x8xf32> -> tensor<9x8xbf16>
      return %x, %n : tensor<4x8xf32>, tensor<9x8xbf16>
    }
    // becomes
    func.func @example(%t: tensor<9x8xf32> {nn.arg = #nn.arg<parameter "t">}, %i: tensor<4xi64>)
        -> (tensor<4x8xf32>, tensor<9x8xbf16>) {
      %x = nn.gather %t, %i dim 0 : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
      %r = nn.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
      %y = nn.convert %r : tensor<4x8xbf16> -> tensor<4x8xf32>
      %n = nn.convert %t : tensor<9x8xf32> -> tensor<9x8xbf16>
      return %y, %n : tensor<4x8xf32>, tensor<9x8xbf16>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def NarrowFloats : Pass<"dpc-narrow-floats", "mlir::ModuleOp"> {
  let summary = "Gives products 16-bit operands (mixed precision)";
  let description = [{
    The PrecisionOpInterface of each op decides.

    - Operands of *narrow* ops (products, convolutions, attention) are converted from f32
      to `type` directly before each use, and results are converted back. Sums inside the
      ops are f32.
    - Ops that *follow* (they move or select numbers) take the narrow type if all their
      operands have it, or if all their readers are conversions to it and a conversion of
      the operands instead converts no more elements.
    - All other ops stay f32: norms, softmax, losses, sums and elementwise ops. So state,
      inputs and results of functions keep their types.

    Values between two elementwise ops are never rounded. The values that a program keeps
    for its backward pass are the operands and results of products.

    Constants become constants of `type`. Ops with floats other than f32 are unchanged,
    and so are these products:

    - products of positions: one factor is computed only from integers of more than 8 bits
      (inputs or iotas) and constants;
    - products of constants;
    - products that sum nothing, with a contraction of extent 1.

    Source: Micikevicius et al., "Mixed precision training", ICLR 2018.

    Needs: one block per function; no gradients yet (they follow, since a VJP has the types
    of the op that it differentiates). Keeps: the level. Canonicalization removes
    conversions that cancel, and CSE merges equal ones.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
      %y = nn.dot %x, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %z = nn.tanh %y : tensor<4x8xf32>
      return %z : tensor<4x8xf32>
    }
    // becomes
    func.func @example(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
      %a = nn.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
      %b = nn.convert %w : tensor<8x8xf32> -> tensor<8x8xbf16>
      %c = nn.dot %a, %b contract [1] [0] : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
      %y = nn.convert %c : tensor<4x8xbf16> -> tensor<4x8xf32>
      %z = nn.tanh %y : tensor<4x8xf32>
      return %z : tensor<4x8xf32>
    }
    ```
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"",
                        "The narrow type: bf16 or f16">];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def WidenSums : Pass<"dpc-widen-sums", "mlir::func::FuncOp"> {
  let summary = "Products give the wider type that their only user converts to";
  let description = [{
    A product of narrow factors sums in f32. If its result is only converted to a wider
    type, possibly after ops that move it, and no value computed from it is narrowed
    again, the product gives the wider type directly, without rounding. This affects
    gradients of weights and results of the program. Results that other products read
    stay narrow, in memory and in collectives.

    Needs: one block. Keeps: the level.

    ```mlir
    func.func @example(%x: tensor<4x8xbf16>, %g: tensor<4x8xbf16>) -> tensor<8x8xf32> {
      %w = nn.dot %x, %g contract [0] [0] : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xbf16>
      %y = nn.convert %w : tensor<8x8xbf16> -> tensor<8x8xf32>
      return %y : tensor<8x8xf32>
    }
    // becomes
    func.func @example(%x: tensor<4x8xbf16>, %g: tensor<4x8xbf16>) -> tensor<8x8xf32> {
      %w = nn.dot %x, %g contract [0] [0] : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
      return %w : tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RecordBounds : Pass<"dpc-record-bounds", "mlir::func::FuncOp"> {
  let summary = "Records on inputs and labels which integers the program can take";
  let description = [{
    An input that is an index (a token of an embedding, a label of a cross-entropy) must
    lie in the range of the dimension that it indexes. The pass walks each function
    backwards from the indexing ops, through ops that only move integers, and writes
    `nn.bounds` on the arguments that it reaches. The runtime checks the data against
    these bounds; generated code does not check indices.

    Each element has its own bounds, because columns of one input may index different
    tables. All samples get the same bounds, the intersection over the samples, because
    the host may put any row of the data in any sample.

    The pass does not follow computed indices, except `x + constant` and the two usual
    forms `x < 0 ? x + n : x` and `x == ignored ? .. : x`.

    Needs: static shapes, not yet cut by a layout. Keeps: everything else.

    ```mlir
    func.func @infer(%table: tensor<100x16xf32>, %i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">}) {
      %y = nn.gather %table, %i dim 0 : tensor<100x16xf32>, tensor<4xi64> -> tensor<4x16xf32>
      return
    }
    // becomes
    func.func @infer(%table: tensor<100x16xf32>,
                     %i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">, nn.bounds = array<i64: 0, 99>}) {
      %y = nn.gather %table, %i dim 0 : tensor<100x16xf32>, tensor<4xi64> -> tensor<4x16xf32>
      return
    }
    ```

    Example: an input has three columns. The first two index tables of 5 rows, and the
    third one indexes a table of 9 rows. The bounds are then
    `[array<i64: 2, 0, 4>, array<i64: 1, 0, 8>]`: for each run of equal columns the number
    of columns, then the range.
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def FormAttention : Pass<"dpc-form-attention", "mlir::ModuleOp"> {
  let summary = "Turns a product, a softmax and a product into nn.attention";
  let description = [{
    Replaces these ops by one op: the product of queries and keys; a scale of its result
    or of either factor; its masks; `nn.softmax` over the keys, with or without the select
    by which exporters replace NaN by 0; the product with the values. The op reads and
    writes heads in the dimension in which the projections around it have them. Remaining
    transpositions are left to canonicalization; most of them cancel.

    A mask is an added tensor that needs no gradient, or a select of -infinity. Broadcasts
    of masks are removed, and several masks are added to one. A constant mask that hides
    (by -1e9 or less) exactly the keys after each query becomes `causal`. If its number is
    finite, this is done only if no other mask can hide all remaining keys of a row: in
    a row in which finite numbers hide all keys, the later keys have weights again.

    Unchanged are:

    - scores or probabilities with other uses;
    - dropout between softmax and product;
    - masks whose sum is as large as the scores;
    - a select of a finite number that is not causal, or that is used together with a mask
      that may hide all remaining keys (a row without keys then has equal weights);
    - types other than f32 and f64;
    - in `@step`, a mask that depends on a parameter.

    If an unchanged softmax has the select by which exporters replace NaN by 0, a row whose
    scores are all -infinity gets scores 0 and result 0. Its gradient is then 0, not NaN.

    Needs: the functions have no ops with a training form. Keeps: the level; ops without
    uses are left to canonicalization.

    ```mlir
    func.func @forward(%q: tensor<4x12x64xf32>, %k: tensor<4x12x64xf32>, %v: tensor<4x12x64xf32>) {
      %eighth = nn.constant dense<0.125> : tensor<4x12x12xf32>
      %s = nn.dot %q, %k batch [0] [0] contract [2] [2]
          : tensor<4x12x64xf32>, tensor<4x12x64xf32> -> tensor<4x12x12xf32>
      %t = nn.mul %s, %eighth : tensor<4x12x12xf32>
      %p = nn.softmax %t dim 2 : tensor<4x12x12xf32>
      %y = nn.dot %p, %v batch [0] [0] contract [2] [1]
          : tensor<4x12x12xf32>, tensor<4x12x64xf32> -> tensor<4x12x64xf32>
      return
    }
    // becomes
    func.func @forward(%q: tensor<4x12x64xf32>, %k: tensor<4x12x64xf32>, %v: tensor<4x12x64xf32>) {
      %y, %l = nn.attention %q, %k, %v rows 1 scale 0.125
          : tensor<4x12x64xf32>, tensor<4x12x64xf32>, tensor<4x12x64xf32>
          -> tensor<4x12x64xf32>, tensor<4x12xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def FormBatchGathers : Pass<"dpc-form-batch-gathers", "mlir::ModuleOp"> {
  let summary = "Makes index tuples that name their own sample batch dimensions";
  let description = [{
    A model that picks one row x[b, i_b] of each sample b does so by x[arange(B), i].
    Exporters turn this into a gather whose index tuples (b, i_b) contain the number of
    the sample. From its types alone, such a gather could read any sample, so every device
    would need all of x. This pass finds tuples in which one component is always the
    number of the own sample, and makes the sample a batch dimension of the op, which can
    be sharded. With B samples of n rows:

    * `nn.gather_nd` and `nn.scatter_nd` whose tuples begin with the number of the own
      sample (computed in any way from constants): the component is removed and
      `batchDims` grows by one. The requirements on the other components do not change,
      so nothing has to be proved about them.
    * `nn.gather` at b * n + i_b from x, with samples laid end to end: becomes
      `nn.gather_nd` at i from x as B samples. Integer ranges must prove 0 <= i_b < n,
      since a negative i_b would read a row of the sample before b.
    * The same two forms with the sample as second dimension, x[i, arange(B)] and
      i_b * B + b: become `nn.gather_elements` along the first dimension, so that x need
      not be transposed.
    * `nn.gather_nd` in which every component is the index of the tuple itself along some
      dimension: becomes a broadcast. Exporters look up masks in this way.

    Exporters wrap indices that may be negative: `i < 0 ? i + n : i`. If integer ranges
    prove that i is not negative, the select is removed from the remaining indices.

    Unchanged are: a batch of one sample; tuples with the sample after two or more
    components, or second in `nn.scatter_nd`; indices whose extents differ from the
    extents of the dimensions that they index.

    Needs: static shapes. Keeps: the level. Pure ops without uses are erased.

    ```mlir
    func.func @example(%own: tensor<4x1xi64>, %i: tensor<4x1xi64>, %x: tensor<4x9x3xf32>) {
      %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
      %y = nn.gather_nd %x, %t : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
      return
    }
    // becomes
    func.func @example(%x: tensor<4x9x3xf32>, %i: tensor<4x1xi64>) {
      %y = nn.gather_nd %x, %i {batchDims = 1 : i64} : tensor<4x9x3xf32>, tensor<4x1xi64> -> tensor<4x3xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_NORMALIZE_PASSES_TD
