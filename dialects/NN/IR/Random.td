#ifndef DPC_DIALECTS_NN_IR_RANDOM_TD
#define DPC_DIALECTS_NN_IR_RANDOM_TD

include "dialects/NN/IR/NNBase.td"

class NN_I64ScalarBeside<string anchor, string operand> : TypesMatchWith<
    operand # " is a rank-0 i64 tensor", anchor, operand,
    "::mlir::RankedTensorType::get({}, ::mlir::IntegerType::get($_self.getContext(), 64))">;

def NN_RandomUniformOp : NN_Op<"random_uniform", [
    Pure, NN_Interpretable, NN_Shardable, NN_Computes,
    NN_I64ScalarBeside<"index", "seed">, NN_I64ScalarBeside<"index", "step">]> {
  let summary = "Uniform random numbers in [0, 1), one for each index";
  let description = [{
    The random numbers are computed by Philox 4x32-10 (Salmon et al., SC 2011), a
    pure function of (seed, step, ordinal, index). `index` is the row-major
    index of the element in the logical tensor. Therefore random numbers do not
    depend on the layout, and computing them again gives the same numbers.

    * words 0 and 1 of the counter are the low and high half of the index; words 2
      and 3 are the low and high half of the step;
    * words 0 and 1 of the key are the low and high half of output number `ordinal`
      (from 0) of SplitMix64 with the initial state `seed`: with z = seed +
      (ordinal + 1) 0x9E3779B97F4A7C15, z = (z ^ z >> 30) 0xBF58476D1CE4E5B9, z =
      (z ^ z >> 27) 0x94D049BB133111EB, key = z ^ z >> 31;
    * the result is (output word 0 >> 8) / 2^24. These are 24 bits, which f32 and
      f64 represent exactly.

    `ordinal` is the attribute `ordinal` of the op that draws: each random op of
    the imported model has a different ordinal. The training forms of
    `nn.dropout` and of draws create the op. Kernels of its readers compute it.

    ```mlir
    func.func @example(%seed: tensor<i64>, %step: tensor<i64>, %i: tensor<8x16xi64>) {
      %u = nn.random_uniform %seed, %step, %i {ordinal = 3 : i64} : tensor<8x16xi64> -> tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) seed and step are rank-0 i64 tensors; (C2) index and result
    have one shape; (C3) the result is f32 or f64.
  }];
  let arguments = (ins 0DTensorOf<[I64]>:$seed, 0DTensorOf<[I64]>:$step,
                       NN_TensorOf<[I64], "64-bit signless integer">:$index, I64Attr:$ordinal);
  let results = (outs NN_TensorOf<[F32, F64], "32-bit float or 64-bit float">:$result);
  let assemblyFormat = [{
    $seed `,` $step `,` $index attr-dict `:` type($index) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_DropoutOp : NN_Op<"dropout", [
    Pure, AllTypesMatch<["input", "result"]>, NN_TrainingMode, NN_Computes,
    TypesMatchWith<"mask has the shape of input", "input", "mask",
        "::llvm::cast<::mlir::ShapedType>($_self).clone(::mlir::IntegerType::get($_self.getContext(), 1))">]> {
  let summary = "Sets random elements to zero";
  let description = [{
    In training, each element is kept with probability 1 - `ratio`. The result is
    the element divided by 1 - `ratio` if it is kept, otherwise 0. `mask` says
    which elements are kept: those for which `nn.random_uniform` of the element's
    row-major index in the logical tensor is >= `ratio`. In evaluation, the result
    is the operand, and all elements of `mask` are true.

    Frontends create the op, which exists only at level `import`. When the step is
    built, the training or the evaluation form replaces it.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y, %mask = nn.dropout %x {ratio = 0.1 : f64, ordinal = 3 : i64} : tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) `ratio` lies in [0, 1].
  }];
  let arguments = (ins NN_FloatTensor:$input, F64Attr:$ratio, I64Attr:$ordinal);
  let results = (outs NN_FloatTensor:$result, NN_BoolTensor:$mask);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

class NN_DrawOp<string mnemonic, string distribution, string mean> : NN_Op<mnemonic, [
    Pure, NN_TrainingMode, NN_Computes]> {
  let description = [{
    In training, every element is }] # distribution # [{ of `nn.random_uniform`. Each
    element has its own numbers. In evaluation, every element is }] # mean # [{, the mean.

    Frontends create the op, which exists only at level `import`. When the step is
    built, the training or the evaluation form replaces it.

    ```mlir
    func.func @example() {
      %z = nn.}] # mnemonic # [{ {ordinal = 3 : i64} : tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) the result is f32 or f64.
  }];
  let arguments = (ins I64Attr:$ordinal);
  let results = (outs NN_TensorOf<[F32, F64], "32-bit float or 64-bit float">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def NN_DrawUniformOp : NN_DrawOp<"draw_uniform", "a number", "1/2"> {
  let summary = "Numbers drawn uniformly from [0, 1)";
}

def NN_DrawNormalOp : NN_DrawOp<"draw_normal",
    "sqrt(-2 ln(1 - u)) cos(2 pi v) (Box and Muller, 1958) of two numbers u and v", "0"> {
  let summary = "Numbers drawn from the standard normal distribution";
}

#endif // DPC_DIALECTS_NN_IR_RANDOM_TD
