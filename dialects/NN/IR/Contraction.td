#ifndef DPC_DIALECTS_NN_IR_CONTRACTION_TD
#define DPC_DIALECTS_NN_IR_CONTRACTION_TD

include "dialects/NN/IR/NNBase.td"


def NN_DotOp : NN_Op<"dot", [
    Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Computes,
    PrecisionOpInterface,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Sums products over contracted dimensions";
  let description = [{
    A generalized matrix product. `lhsBatch` and `rhsBatch` list pairs of batch
    dimensions, which the result has too. `lhsContract` and `rhsContract` list pairs
    of contracted dimensions, over which the products are summed. The result has the
    batch dimensions in the listed order, then the other dimensions of `lhs`, then
    the other dimensions of `rhs`.

    Every MatMul and Gemm of ONNX, every product of two terms of an Einsum, and each
    gradient of these becomes one `nn.dot`, with transposes if necessary.
    Canonicalization removes a transpose of an operand if it keeps the order of the
    dimensions that are neither batch nor contracted. It removes a transpose of the
    result if no other op reads the result, and if the transpose reorders batch
    dimensions, exchanges the dimensions of `lhs` as a group with those of `rhs`, or
    does both.

    Products of 16-bit floats are summed in f32. If the result is f32, it has these
    sums. Otherwise they are rounded once, to the type of the result.

    ```mlir
    func.func @example(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>, %q: tensor<4x12x8xf32>, %k: tensor<4x12x8xf32>) {
      %y = nn.dot %x, %w contract [1] [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
      %s = nn.dot %q, %k batch [0] [0] contract [2] [2]
          : tensor<4x12x8xf32>, tensor<4x12x8xf32> -> tensor<4x12x12xf32>
      return
    }
    ```
    Constraints: (C1) the two lists of a pair have the same length, entries are
    inside the rank, and no dimension is listed twice; (C2) paired extents are
    equal; (C3) the operands have one element type; the result has this type or, for
    floats, a wider float type.
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhsBatch,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhsBatch,
                       DenseI64ArrayAttr:$lhsContract, DenseI64ArrayAttr:$rhsContract);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`batch` $lhsBatch^ $rhsBatch)? `contract` $lhsContract $rhsContract
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The dimensions of an operand that are neither batch nor contracted.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    bool sumsToWider() { return true; }
    /// Overrides InferTypeOpInterface, because the result may have a wider type
    /// than type inference gives.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

#endif // DPC_DIALECTS_NN_IR_CONTRACTION_TD
