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
    /// The extents of the op and where they lie in its operands.
    ::dpc::nn::AttentionShape getAttentionShape();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    /// q, k and v.
    bool narrowsOperand(unsigned number) { return number < 3; }
    /// Gradients. The result of attention stays as its sums are: gradients of scores are
    /// differences from its product with its own gradient.
    bool narrowsResult(unsigned) { return ::llvm::isa<AttentionGradOp>(getOperation()); }
  }];
  let extraClassDeclaration = extraDeclaration;
}

def NN_AttentionOp : NN_AttentionLikeOp<"attention", [NN_Differentiable]> {
  let summary = "Scaled dot-product attention: softmax(scale Q K^T + mask) V";
  let description = [{
    `q` has a row a query, `k` and `v` have a row a key. Dimension `rows` of them
    and of the result counts these rows, the last one the elements of a row; all
    others are batch (samples, heads), in their order. So heads are read where a
    projection left them, [batch, rows, heads, elements], as well as one by one,
    [batch, heads, rows, elements].

    For each batch element, query i and key j: s = `scale` q_i . k_j + mask, p =
    softmax of s over the keys, result_i = sum_j p_ij v_j, and `logSumExp`_i = ln
    sum_j e^s, [batch, queries], is kept for the gradient. `mask` is a tensor
    over some of the dimensions [batch, queries, keys], those of `maskDimensions`,
    and constant along the others. With `causal`, query i sees key j where
    j <= i + keys - queries, as if -infinity were added elsewhere.

    A row whose keys are all masked by -infinity is NaN, as the softmax of such a
    row is. With `guarded` (exporters write it as select(is_nan(p), 0, p)) its
    result is 0, and so is all of its gradient.

    Scores and their softmax are f32 where q, k and v are 16-bit floats, and so is
    `logSumExp`; the result is rounded once, to its own type. In core ops the
    probabilities are rounded too, which are then factors of a product.

    The gradient is `nn.attention_grad` of q, k and v, and core ops of `mask`.

    Made by `dpc-form-attention`; decomposed at `placed` where keys or elements of
    rows are cut, or queries that are `causal`; else one kernel, which never holds
    all scores.

    ```mlir
    func.func @example(%q: tensor<8x12x4x64xf32>, %k: tensor<8x12x4x64xf32>, %v: tensor<8x12x4x64xf32>, %m: tensor<8x12xf32>) {
      %y, %l = nn.attention %q, %k, %v mask %m [0, 3] rows 1 scale 0.125 causal
          : tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12x4x64xf32>, tensor<8x12xf32>
          -> tensor<8x12x4x64xf32>, tensor<8x4x12xf32>
      return
    }
    ```
    Constraints: (C1) q, k and v have one rank, at least 2, and `rows` is a
    dimension but the last; (C2) their batch extents are equal, q and k have rows
    of one length, k and v one number of rows, and nothing is empty; (C3)
    `maskDimensions` has one entry a dimension of the mask, strictly increasing,
    of the extent that it names; (C4) `causal` needs at least as many keys as
    queries; (C5) `scale` is finite; (C6) q, k and v have one element type
    and the result has it too or a wider one, `logSumExp` has that in which their
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
    /// Of InferTypeOpInterface: the result may be wider.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

def NN_AttentionGradOp : NN_AttentionLikeOp<"attention_grad"> {
  let summary = "Gradients of q, k and v of nn.attention";
  let description = [{
    With p = e^(s - `logSumExp`) recomputed from s as `nn.attention` has it and
    divided by its sum over the keys, g the gradient of the result and `delta`_i =
    sum of g_i result_i less the gradient of `logSumExp`_i: ds = p (g v^T - delta),
    and dq = scale ds k, dk = scale ds^T q, dv = p^T g. With `guarded`, p is 0 where
    it would be NaN. Source: Dao, "FlashAttention-2: Faster Attention with Better
    Parallelism and Work Partitioning", 2023.

    The sum is 1, unless `logSumExp` is so large that it lost the logarithm of the
    number of keys: where a finite number masks all keys of a row.

    Made by the gradient of `nn.attention`; decomposed at `placed` where anything
    but the batch is cut (dq has a row a query, dk and dv sum over the queries);
    else one kernel.

    ```mlir
    func.func @example(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %l: tensor<4xf32>, %delta: tensor<4xf32>, %g: tensor<4x2xf32>) {
      %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %delta, %g rows 0 scale 0.5
          : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
          -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
      return
    }
    ```
    Where q, k and v are 16-bit floats, what lies between is f32, but in core ops
    the probabilities and ds as factors of a product.

    `resultGrad` is rounded to the type of q, k and v. `delta` is that of the rounded
    one and of a result that need not be: where p (g v^T - delta) did not add up to
    zero, all keys would pull a query the same way.

    Constraints: (C1) to (C6) of `nn.attention`; (C7) `logSumExp` and `delta` have
    the type of its second result, `resultGrad` that of its first, with the elements
    of q.
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
