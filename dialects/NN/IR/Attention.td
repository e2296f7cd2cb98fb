#ifndef DPC_DIALECTS_NN_IR_ATTENTION_TD
#define DPC_DIALECTS_NN_IR_ATTENTION_TD

include "dialects/NN/IR/NNBase.td"

def NN_AttentionTensor : NN_TensorOf<[BF16, F16, F32, F64], "bfloat16, 16-bit, 32-bit or 64-bit float">;
def NN_AttentionSums : NN_TensorOf<[F32, F64], "32-bit float or 64-bit float">;

class NN_AttentionLikeOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Decomposable, NN_Computes, PrecisionOpInterface,
        DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  code extraDeclaration = [{
    /// The extents of the op, and the dimensions of its operands that have them.
    ::dpc::nn::AttentionShape getAttentionShape();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    /// Only q, k and v become narrow.
    bool narrowsOperand(unsigned number) { return number < 3; }
    /// Only results of nn.attention_grad become narrow. The result of nn.attention keeps
    /// the precision of sums, because the gradients of the scores subtract the product
    /// of this result and its gradient (`delta`).
    bool narrowsResult(unsigned) { return ::llvm::isa<AttentionGradOp>(getOperation()); }
  }];
  let extraClassDeclaration = extraDeclaration;
}

def NN_AttentionOp : NN_AttentionLikeOp<"attention", [NN_Differentiable]> {
  let summary = "Scaled dot-product attention: softmax(scale Q K^T + mask) V";
  let description = [{
    `q` has one row per query; `k` and `v` have one row per key. In q, k, v and the
    result, dimension `rows` counts these rows, and the last dimension has the elements
    of a row. All other dimensions are batch dimensions (samples, heads). Therefore the
    op takes heads as a projection computes them, [batch, rows, heads, elements], and
    also as separate matrices, [batch, heads, rows, elements].

    For each batch element, query i and key j: s_ij = `scale` q_i . k_j + mask, p =
    softmax of s over the keys, and result_i = sum_j p_ij v_j. The result `logSumExp`_i =
    ln sum_j e^s_ij has the dimensions [batch, queries]; the gradient needs it. The
    scores have the dimensions [batch, queries, keys]. `maskDimensions` lists those that
    `mask` has; the mask is constant along the others. With `causal`, query i sees key j
    if j <= i + keys - queries: -infinity is added to all other scores.

    If the mask is -infinity for all keys of a query, the softmax of this query's
    scores is NaN, and so is its row of the result. With `guarded`, this row and its
    gradient are 0. Exporters write this as select(is_nan(p), 0, p).

    If q, k and v are 16-bit floats, the scores, their softmax and `logSumExp` are f32,
    and the result is rounded once, to its own type. The decomposition into core ops also
    rounds the probabilities, because they become factors of a product there.

    `nn.attention_grad` computes the gradients of q, k and v. Core ops compute the
    gradient of `mask`.

    `dpc-form-attention` creates the op. `dpc-assign-layouts` decomposes it if an axis
    cuts the keys, the elements of rows, or the queries of a `causal` attention.
    Otherwise it becomes one kernel, which never stores all scores.

    ```mlir
    func.func @example(%q: tensor<8x12x4x64xf32>, %k: tensor<8x12x4x64xf32>, %v: tensor<8x12x4x64xf32>, %m: tensor<8x12xf32>) {
      %y, %l = nn.attention %q, %k, %v mask %m [0, 3] rows 1 scale 0.125 causal
          : tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12xf32>
          -> tensor<8x12x4x64xf32>, tensor<8x4x12xf32>
      return
    }
    ```
    Constraints: (C1) q, k and v have one rank, at least 2, and `rows` is a dimension
    other than the last; (C2) their batch extents are equal, q and k have rows of one
    length, k and v have the same number of rows, and no extent is 0; (C3)
    `maskDimensions` has one entry per dimension of the mask, strictly increasing, and
    the extent of each is that of the named dimension; (C4) `causal` needs at least as
    many keys as queries; (C5) `scale` is finite; (C6) q, k and v have one element type,
    and the result has this type or a wider one; `logSumExp` has the type of sums (f32
    for 16-bit floats), and the mask has one of these two types.
  }];
  let arguments = (ins NN_AttentionTensor:$q, NN_AttentionTensor:$k, NN_AttentionTensor:$v,
                       Optional<NN_AttentionTensor>:$mask,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$maskDimensions,
                       I64Attr:$rows, F64Attr:$scale, UnitAttr:$causal, UnitAttr:$guarded);
  let results = (outs NN_AttentionTensor:$result, NN_AttentionSums:$logSumExp);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`mask` $mask^ $maskDimensions)? `rows` $rows `scale` $scale
    (`causal` $causal^)? (`guarded` $guarded^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) (`,` type($mask)^)?
    `->` type($result) `,` type($logSumExp)
  }];
  let extraClassDeclaration = extraDeclaration # [{
    /// Overrides InferTypeOpInterface, because the result may have a wider type than
    /// type inference gives.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

def NN_AttentionGradOp : NN_AttentionLikeOp<"attention_grad"> {
  let summary = "Gradients of q, k and v of nn.attention";
  let description = [{
    The op computes the scores s of `nn.attention` again. From them it computes the
    probabilities p: e^(s - `logSumExp`), divided by the sum of these values over the
    keys. Let g be the gradient of the result. `delta`_i is the product g_i . result_i
    minus the gradient of `logSumExp`_i. Then ds = p (g v^T - delta), dq = scale ds k, dk
    = scale ds^T q, and dv = p^T g. With `guarded`, 0 replaces a p that would be NaN.
    Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
    Partitioning", 2023.

    Usually, the sum over the keys is already 1. It is not 1 if a large finite number
    masks all keys of a row. Then `logSumExp` is so large that rounding drops the
    logarithm of the number of keys.

    The VJP of `nn.attention` creates the op. `dpc-assign-layouts` decomposes it if an
    axis cuts any dimension except batch dimensions: dq has one row per query, but dk and
    dv are sums over the queries. Otherwise it becomes one kernel.

    ```mlir
    func.func @example(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %l: tensor<4xf32>, %delta: tensor<4xf32>, %g: tensor<4x2xf32>) {
      %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %delta, %g rows 0 scale 0.5
          : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
          -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
      return
    }
    ```
    If q, k and v are 16-bit floats, intermediate values are f32. The decomposition
    rounds the probabilities and ds, because they are factors of a product there.

    `resultGrad` is rounded to the type of q, k and v. `delta` is computed from this
    rounded gradient, and from the result, which need not be rounded. Therefore ds sums
    to zero over the keys, up to rounding. Otherwise all keys would push a query in one
    direction.

    Constraints: (C1) to (C6) of `nn.attention`; (C7) `logSumExp` and `delta` have the
    type of the second result of `nn.attention`; `resultGrad` has the shape of its first
    result and the element type of q.
  }];
  let arguments = (ins NN_AttentionTensor:$q, NN_AttentionTensor:$k, NN_AttentionTensor:$v,
                       NN_AttentionSums:$logSumExp, NN_AttentionSums:$delta,
                       NN_AttentionTensor:$resultGrad, Optional<NN_AttentionTensor>:$mask,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$maskDimensions,
                       I64Attr:$rows, F64Attr:$scale, UnitAttr:$causal, UnitAttr:$guarded);
  let results = (outs NN_AttentionTensor:$dq, NN_AttentionTensor:$dk, NN_AttentionTensor:$dv);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $logSumExp `,` $delta `,` $resultGrad
    (`mask` $mask^ $maskDimensions)? `rows` $rows `scale` $scale
    (`causal` $causal^)? (`guarded` $guarded^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) `,` type($logSumExp) `,` type($delta) `,`
    type($resultGrad) (`,` type($mask)^)? `->` type($dq) `,` type($dk) `,` type($dv)
  }];
}

#endif // DPC_DIALECTS_NN_IR_ATTENTION_TD
