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
    /// The extents of the op and their dimensions in its operands.
    ::dpc::nn::AttentionShape getAttentionShape();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    /// q, k and v.
    bool narrowsOperand(unsigned number) { return number < 3; }
    /// Only gradients are narrowed. The result of nn.attention keeps the precision of
    /// its sums, because the gradients of scores are differences from the product of the
    /// result and its gradient.
    bool narrowsResult(unsigned) { return ::llvm::isa<AttentionGradOp>(getOperation()); }
  }];
  let extraClassDeclaration = extraDeclaration;
}

def NN_AttentionOp : NN_AttentionLikeOp<"attention", [NN_Differentiable]> {
  let summary = "Scaled dot-product attention: softmax(scale Q K^T + mask) V";
  let description = [{
    `q` has one row per query; `k` and `v` have one row per key. In q, k, v and the
    result, dimension `rows` counts these rows, and the last dimension has the
    elements of a row. All other dimensions are batch (samples, heads), in their
    order. So heads are read in the layout of a projection, [batch, rows, heads,
    elements], as well as in separate matrices, [batch, heads, rows, elements].

    For each batch element, query i and key j: s = `scale` q_i . k_j + mask, p =
    softmax of s over the keys, result_i = sum_j p_ij v_j. The result `logSumExp`_i
    = ln sum_j e^s, [batch, queries], is kept for the gradient. `mask` is a tensor
    over some of the dimensions [batch, queries, keys], which `maskDimensions`
    lists, and is constant along the others. With `causal`, query i sees key j if j
    <= i + keys - queries, as if -infinity were added to the other scores.

    The result of a row whose keys are all masked by -infinity is NaN, as the
    softmax of such a row is. With `guarded` (exporters write it as
    select(is_nan(p), 0, p)) its result and all of its gradient are 0.

    If q, k and v are 16-bit floats, scores, their softmax and `logSumExp` are f32,
    and the result is rounded once, to its own type. The decomposition into core ops
    also rounds the probabilities, because they are then factors of a product.

    The gradient of q, k and v is `nn.attention_grad`; the gradient of `mask` is
    made of core ops.

    Made by `dpc-form-attention`. Decomposed at `placed` if keys or elements of rows
    are cut, or if queries of a `causal` attention are cut. Otherwise it is one
    kernel, which never holds all scores.

    ```mlir
    func.func @example(%q: tensor<8x12x4x64xf32>, %k: tensor<8x12x4x64xf32>, %v: tensor<8x12x4x64xf32>, %m: tensor<8x12xf32>) {
      %y, %l = nn.attention %q, %k, %v mask %m [0, 3] rows 1 scale 0.125 causal
          : tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12xf32>
          -> tensor<8x12x4x64xf32>, tensor<8x4x12xf32>
      return
    }
    ```
    Constraints: (C1) q, k and v have one rank, at least 2, and `rows` is a
    dimension other than the last; (C2) their batch extents are equal, q and k have
    rows of one length, k and v have the same number of rows, and no extent is 0;
    (C3) `maskDimensions` has one entry per dimension of the mask, strictly
    increasing, and the extent of each is that of the named dimension; (C4) `causal`
    needs at least as many keys as queries; (C5) `scale` is finite; (C6) q, k and v
    have one element type, and the result has it too or a wider one; `logSumExp` has
    the type of sums (f32 for 16-bit floats), and the mask has one of the two types.
    sums are taken (f32 for 16-bit floats), the mask one of the two.
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
    /// Overrides InferTypeOpInterface: the result may have a wider type than
    /// inferred.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

def NN_AttentionGradOp : NN_AttentionLikeOp<"attention_grad"> {
  let summary = "Gradients of q, k and v of nn.attention";
  let description = [{
    The probabilities are recomputed as p = e^(s - `logSumExp`), with s as in
    `nn.attention`, and divided by their sum over the keys. Let g be the gradient of
    the result, and `delta`_i = the sum of g_i result_i less the gradient of
    `logSumExp`_i. Then ds = p (g v^T - delta), dq = scale ds k, dk = scale ds^T q,
    and dv = p^T g. With `guarded`, a p that would be NaN is 0. Source: Dao,
    "FlashAttention-2: Faster Attention with Better Parallelism and Work
    Partitioning", 2023.

    The sum over the keys is 1, unless `logSumExp` is so large that rounding dropped
    the logarithm of the number of keys. That happens if a finite number masks all
    keys of a row.

    Made by the gradient of `nn.attention`. Decomposed at `placed` if any dimension
    other than the batch is cut (dq has one row per query, while dk and dv are sums
    over the queries). Otherwise it is one kernel.

    ```mlir
    func.func @example(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %l: tensor<4xf32>, %delta: tensor<4xf32>, %g: tensor<4x2xf32>) {
      %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %delta, %g rows 0 scale 0.5
          : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
          -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
      return
    }
    ```
    If q, k and v are 16-bit floats, intermediate values are f32. In the
    decomposition, the probabilities and ds are rounded, because they are factors of
    a product.

    `resultGrad` is rounded to the type of q, k and v. `delta` is computed from the
    rounded gradient and from a result that need not be rounded. If p (g v^T - delta)
    did not add up to zero over the keys, all keys would pull a query in the same
    direction.

    Constraints: (C1) to (C6) of `nn.attention`; (C7) `logSumExp` and `delta` have
    the type of its second result; `resultGrad` has the type of its first result,
    with the element type of q.
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
