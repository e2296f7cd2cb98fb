#ifndef DPC_PASSES_NORMALIZE_PASSES_TD
#define DPC_PASSES_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"dpc-widen-floats", "mlir::ModuleOp"> {
  let summary = "Turns every float type into f64";
  let description = [{
    Changes the types of arguments, results, constants and variables. A program in f64 then
    computes everything in f64, even the result of a Cast to float. Constants are converted
    from their f32 values and not parsed again. Therefore 0.1f stays the f32 number nearest
    to 0.1.

    Needs: level `import`. Keeps: the level.

    ```mlir
    %c = nn.constant dense<0.5> : tensor<4xf32>
    // becomes
    %c = nn.constant dense<0.5> : tensor<4xf64>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def DropUnitDimensions : Pass<"dpc-drop-unit-dimensions", "mlir::func::FuncOp"> {
  let summary = "Computes without dimensions of extent 1 that a reshape has inserted";
  let description = [{
    A kernel cannot have a reshape between its ops. If a reshape only inserts dimensions of
    extent 1, and elementwise ops, reductions or normalizations follow it, the pass computes
    these ops before the reshape. Then they can be in one kernel with the ops before it. The
    main case is a batch normalization over groups of samples: on each rank or in each
    microbatch there is one group, so its dimension has extent 1 after partitioning.

    Keeps: the level.

    ```mlir
    func.func @example(%x: tensor<8x4xf32>) -> tensor<1x4xf32> {
      %r = nn.reshape %x : tensor<8x4xf32> -> tensor<1x8x4xf32>
      %m = nn.mul %r, %r : tensor<1x8x4xf32>
      %s = nn.reduce sum %m [1] : tensor<1x8x4xf32> -> tensor<1x4xf32>
      return %s : tensor<1x4xf32>
    }
    // becomes
    func.func @example(%x: tensor<8x4xf32>) -> tensor<1x4xf32> {
      %m = nn.mul %x, %x : tensor<8x4xf32>
      %s = nn.reduce sum %m [0] : tensor<8x4xf32> -> tensor<4xf32>
      %r = nn.reshape %s : tensor<4xf32> -> tensor<1x4xf32>
      return %r : tensor<1x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RoundLookups : Pass<"dpc-round-lookups", "mlir::func::FuncOp"> {
  let summary = "Rounds the rows that lookups take from a table, if products read the table in fewer bits";
  let description = [{
    If ops convert a parameter to a narrower type, the pass also rounds the results of
    lookups in the parameter to this type. An example is a token table that is also the
    weight of the last product, which reads it in bf16. After the pass, only the update of
    the parameter needs all of its bits, so `dpc-divide-updates` can gather the parameter in
    the narrow type. The pass rounds the rows after the lookup. This gives the same values
    as a conversion of the complete table, with less work.

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
    An op is in one of three classes. The ops of the first two classes have the
    PrecisionOpInterface, which says the class.

    - *narrow* ops (products, convolutions, attention): their operands are converted from
      f32 to `type` directly before each use, and their results are converted back to f32.
      The sums inside of these ops are f32.
    - Ops that *follow* (they move or select numbers): such an op takes the narrow type in
      two cases. First, if its operands are conversions from the narrow type, or constants
      that this type can represent. Second, if all of its readers are conversions to the
      narrow type, and converting its operands instead converts no more elements.
    - All other ops stay f32: norms, softmax, losses, sums and elementwise ops. Therefore
      state, inputs and results of functions keep their types.

    The sum of a product and a bias is the result of a layer, so it is rounded to `type`, unless
    it is a part of a larger sum of products. No other value between two elementwise ops is
    rounded. The values that a program keeps
    for its backward pass are mostly operands and results of products, which have 16 bits.

    Constants become constants of `type`. An op with floats of another type than f32 is
    unchanged. These products are unchanged too:

    - products of positions: one factor is computed only from integers of more than 8 bits
      (inputs, labels, buffers or iotas) and constants;
    - products in which all factors are constants;
    - products that sum nothing, because the contracted dimension has extent 1.

    Source: Micikevicius et al., "Mixed precision training", ICLR 2018.

    Needs: one block per function; no gradients yet (`dpc-differentiate` gives them the
    types of the ops that it differentiates). Keeps: the level. Later, canonicalization
    removes conversions that cancel, and CSE merges equal conversions.

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
  let summary = "Lets a product return the wider type to which its only user converts the result";
  let description = [{
    A product of 16-bit factors computes its sums in f32. The pass lets the product return
    the wider type directly, without rounding, if two conditions hold:

    - The only use of the result is a conversion to the wider type. Ops that only move the
      result may stand before the conversion.
    - No value that is computed from the converted result is narrowed again.

    In the same way, the pass removes the rounding of a sum (of a product and a bias, or of a
    gradient's elements).

    The pass affects gradients of weights and results of the program. Results that other
    products read stay narrow, in memory and in collectives.

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
  let summary = "Records for inputs and labels which integers the program accepts";
  let description = [{
    An input that is an index (a token of an embedding, a label of a cross-entropy) must lie
    in the range of the dimension that it indexes. The pass walks each function backwards
    from the ops that use indices, through ops that only move integers. It writes
    `nn.bounds` on the arguments that it reaches. The runtime checks the data against these
    bounds, because generated code does not check indices.

    Each element of an input has its own bounds, because the columns of one input may index
    different tables. However, all samples have the same bounds, because the host may use
    any row of the data as any sample. These bounds are the intersection over the samples.

    The pass does not follow computed indices. The only exceptions are `x + constant` and
    the two usual forms `x < 0 ? x + n : x` and `x == ignored ? .. : x`.

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

    Example: an input has three columns. The first two columns index tables of 5 rows, and
    the third column indexes a table of 9 rows. The bounds are then
    `[array<i64: 2, 0, 4>, array<i64: 1, 0, 8>]`. Each array stands for a run of columns
    with equal bounds: the number of columns, the lowest index and the highest index.
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def FormAttention : Pass<"dpc-form-attention", "mlir::ModuleOp"> {
  let summary = "Turns a product, a softmax and a product into nn.attention";
  let description = [{
    Replaces these ops by one `nn.attention`:

    - the product of queries and keys;
    - a scale of this product, or of one of its factors;
    - the masks;
    - the `nn.softmax` over the keys, with or without the select by which exporters replace
      NaN by 0;
    - the product of the softmax with the values.

    The rows (queries or keys) may come before or after the heads. `nn.attention` reads and
    writes them in the dimension in which most of its operands have them. Canonicalization
    removes most of the transpositions that remain, because they cancel.

    A mask is either a tensor that is added to the scores and needs no gradient, or a select
    that replaces scores by -infinity, or by a finite number if it is causal. Broadcasts of
    masks are removed, and several masks are added up to one mask. A constant mask becomes
    `causal` if it hides exactly the keys after each query, by numbers of -1e9 or less.

    If such a number is finite, the mask becomes `causal` only if no other mask can hide all
    remaining keys of a row. Otherwise the results would differ: in a row in which finite
    numbers hide all keys, the softmax gives weights to the later keys again, and `causal`
    does not.

    These cases are unchanged:

    - scores or probabilities that have other uses;
    - a dropout between the softmax and the product;
    - several masks whose sum has as many elements as the scores;
    - a select of a finite number that is not causal;
    - a causal select of a finite number together with a mask that may hide all remaining
      keys (a row without keys then has equal weights);
    - types other than f32 and f64;
    - in `@step`, a mask that depends on a parameter.

    A softmax in `@step` that is not replaced may have the select by which exporters
    replace NaN by 0. If its scores depend on a parameter, a row whose scores are all
    -infinity then gets scores 0 and result 0, so that its gradient is 0 and not NaN.

    Needs: each op whose meaning differs between training and evaluation is already
    replaced. Keeps: the level; canonicalization erases the ops without uses.

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
  let summary = "Turns index tuples that contain the number of their own sample into batch dimensions";
  let description = [{
    A model that picks one row x[b, i_b] of each sample b is written as x[arange(B), i].
    Exporters turn this into a gather whose index tuples (b, i_b) contain the number b of
    the sample. The types of this gather do not show that each tuple reads only from its own
    sample, so every device would need all of x. The pass finds tuples in which one
    component is always the number of the tuple's own sample. It makes the sample a batch
    dimension of the op, because batch dimensions can be sharded. With B samples of n rows:

    - `nn.gather_nd` and `nn.scatter_nd` whose tuples begin with the number of their own
      sample, which may be computed in any way from constants. The pass removes this
      component, and `batchDims` grows by one. The requirements on the other components do
      not change, so the pass need not prove anything about them.
    - `nn.gather` at b * n + i_b from x, in which the samples lie one after another. It
      becomes `nn.gather_nd` at i from x, reshaped to B samples. Integer ranges must prove
      0 <= i_b < n, because a negative i_b would read a row of the sample before b.
    - The same two forms with the sample as the second dimension, x[i, arange(B)] and
      i_b * B + b. They become `nn.gather_elements` along the first dimension, so that x
      need not be transposed.
    - `nn.gather_nd` in which every component is the index of the tuple itself along some
      dimension. It becomes a broadcast. Exporters look up masks in this way.
    - `nn.scatter_nd none` whose tuples name all slices of the input in order. It becomes
      its updates. Exporters write `x[:, t] = y` as such a scatter along the first dimension.

    Exporters wrap each index that may be negative: `i < 0 ? i + n : i`. If integer ranges
    prove that i is not negative, the pass removes this select from the remaining indices.

    These cases are unchanged:

    - a batch of one sample;
    - tuples in which the number of the sample comes after two or more components, or second
      in `nn.scatter_nd`;
    - indices whose extents differ from the extents of the dimensions that they index.

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
