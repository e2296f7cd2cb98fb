#ifndef DPC_DIALECTS_NN_IR_CONTRACTION_TD
#define DPC_DIALECTS_NN_IR_CONTRACTION_TD

include "dialects/NN/IR/NNBase.td"


def NN_DotOp : NN_Op<"dot", [
    Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Computes,
    PrecisionOpInterface,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Sums products over contracted dimensions";
  let description = [{
    A matrix product generalised: dimensions pair up as batch (in both operands
    and the result) or contracted (in both operands, summed). The result has the
    batch dimensions in the order given, then the other dimensions of `lhs`, then
    those of `rhs`, in their order.

    Every contraction of ONNX (MatMul, Gemm, Einsum) and each of its gradients is
    one `nn.dot`, at most with transposes around it. Canonicalization takes the
    transposes in: an operand's, where the order of its other dimensions stays,
    and the result's, where it exchanges those of `lhs` and `rhs`.

    A result wider than the factors, such as f32 of bf16 factors, holds the sums
    as they were taken: in f32 for 16-bit floats, and rounded once.

    ```mlir
    func.func @example(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>, %q: tensor<4x12x8xf32>, %k: tensor<4x12x8xf32>) {
      %y = nn.dot %x, %w contract [1] [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
      %s = nn.dot %q, %k batch [0] [0] contract [2] [2]
          : tensor<4x12x8xf32>, tensor<4x12x8xf32> -> tensor<4x12x12xf32>
      return
    }
    ```
    Constraints: (C1) the two lists of a pair have one length, entries inside the
    rank, no dimension twice; (C2) paired extents are equal; (C3) the
    operands have one element type, and the result has it too, or of a float type
    a wider one.
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
    /// Dimensions of an operand that are neither batch nor contracted.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    bool sumsToWider() { return true; }
    /// Of InferTypeOpInterface: the result may be wider.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

#endif // DPC_DIALECTS_NN_IR_CONTRACTION_TD
