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

def RoundLookups : Pass<"dpc-round-lookups", "mlir::func::FuncOp"> {
  let summary = "Rounds rows of a table that products read in fewer bits";
  let description = [{
    Where a parameter is converted to fewer bits, as a tied table of tokens is for
    the last product, rows that are taken of it are rounded to these too: then
    nothing but its update needs all of its bits, and `dpc-divide-updates` keeps
    and gathers no others. Rows are rounded behind the lookup, which is less work
    than to convert the table, and the same.

    Needs: gradients (`dpc-differentiate`) if there are to be any: that of a row
    is not rounded. Keeps: the level.

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
    Each op answers PrecisionOpInterface. Operands of *narrow* ops (products,
    convolutions, attention) are converted from f32 to `type`, each where it is
    used, and their results are converted back; sums inside are f32. Ops that
    *follow* (they move or select numbers) take the narrow type where all they
    read has it, and where a single narrow op reads them. All others stay f32:
    norms, softmax, losses, sums, and what is elementwise; so state, inputs and
    results of functions keep their types. Values between two elementwise ops are
    never rounded: what a program keeps for its backward pass is what products
    gave and read.

    Constants become constants of `type`. Ops with other floats than f32 are left
    alone, and so are products of positions: those with a factor that is made of
    integers of more than 8 bits alone (inputs, numberings, and constants beside
    them), products of constants, and those that sum nothing up, a contraction of
    extent 1.

    Source: Micikevicius et al., "Mixed precision training", ICLR 2018.

    Needs: one block a function; no gradients yet (they then follow, as VJPs have
    the types of what they differentiate). Keeps: the level. Conversions that
    cancel are left to canonicalization, equal ones to CSE.

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
    A product of narrow factors sums in f32. Where its result is converted to a
    wider type, also through ops that move it, and nothing computed from it is
    made narrow again, it gives that type itself, unrounded: gradients of weights,
    and what leaves a program. Results that other products read stay narrow, in
    memory and when they travel.

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

    Of an input of three columns, two of which index tables of 5 rows and the
    third one of 9 rows, the bounds are `[array<i64: 2, 0, 4>, array<i64: 1, 0,
    8>]`: the number of columns, then the range, for each run of equal columns.
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
    that hides (by -1e9 or less) exactly the keys that come after each query
    becomes `causal`. If the number is finite, this is done only beside masks that
    cannot hide the other keys too: in a row whose keys are all hidden by finite
    numbers, the later keys would have weights again.

    Left alone: scores or probabilities that are used elsewhere, dropout between
    softmax and product, masks whose sum is as large as the scores, a select of a
    finite number that is not causal or stands beside a mask that may hide the
    other keys (a row without keys has equal weights then), other types than f32
    and f64, and in `@step` a mask that depends on a parameter. Where such a softmax
    has the select by which exporters put 0 for NaN, a row of scores that are all
    -infinity gets scores 0 and the result 0: its gradient is 0 then, not NaN.

    Needs: training forms are gone from functions to be formed in. Keeps: the
    level; ops that became useless stay for canonicalization.

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
    A model that picks one row of each sample b, x[b, i_b], writes it as
    x[arange(B), i], and exporters turn that into a gather whose index tuples
    (b, i_b) name the sample. From the types alone such a gather might read any
    sample, so every device would have to hold all of x. This pass finds tuples
    whose component is always the sample's own number, and makes the sample a
    batch dimension of the op, which layouts cut like any other. With B samples
    of n rows:

    * `nn.gather_nd` and `nn.scatter_nd` whose tuples begin with the sample's own
      number (computed from constants, in whatever way): the component is
      removed and `batchDims` grows by one. The op asks of the components that
      stay what it asked before, so nothing has to be proved of them;
    * `nn.gather` from x with samples laid end to end, at b * n + i_b: becomes
      `nn.gather_nd` of i on x as B samples. Here 0 <= i_b < n has to be proved,
      from ranges of integers, since a negative i_b would read a row of the
      sample before b;
    * the same two forms with the sample as the second dimension, x[i, arange(B)]
      and i_b * B + b: become `nn.gather_elements` along the first dimension, so
      that x need not be transposed;
    * `nn.gather_nd` whose components all are the index of the place that the
      result has: becomes a broadcast. Masks are looked up this way.

    Exporters wrap indices that may be negative, `i < 0 ? i + n : i`. Where ranges
    prove that i is not negative, the select is removed from the indices that
    stay.

    Left alone: a batch of one sample; tuples that have the sample after two or
    more components, or second in `nn.scatter_nd`; indices whose extents are not
    those of what they index.

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
