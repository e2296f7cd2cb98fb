#ifndef DPC_DIALECTS_NN_IR_NNDIALECT_TD
#define DPC_DIALECTS_NN_IR_NNDIALECT_TD

include "mlir/IR/OpBase.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::dpc::nn";
  let summary = "Tensor programs: models, their gradients and their training step";
  let description = [{
    Pure ops over tensors of static shape. Operands are never broadcast implicitly,
    only by `nn.broadcast`, so that an elementwise op has one shape and one sharding
    rule. A scalar is a rank-0 tensor. A constant whose elements are all equal is a
    splat `nn.constant` of the full shape.

    A module has `nn.variable` ops (the state, with initial values) and functions.
    Function arguments carry `#nn.arg` and results carry `#nn.result`, so that every
    value at the boundary has its ONNX name.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Name of the argument attribute that holds an ArgAttr.
    static constexpr ::llvm::StringLiteral kArgAttrName = "nn.arg";
    /// Name of the result attribute that holds a ResultAttr.
    static constexpr ::llvm::StringLiteral kResultAttrName = "nn.result";

    /// Name of the module attribute that holds a LearningRateAttr.
    static constexpr ::llvm::StringLiteral kLearningRateAttrName = "nn.learning_rate";

    /// Name of the module attribute that holds an OptimizerAttr.
    static constexpr ::llvm::StringLiteral kOptimizerAttrName = "nn.optimizer";
    /// Name of the module attribute that holds a LossAttr.
    static constexpr ::llvm::StringLiteral kLossAttrName = "nn.loss";

  private:
    // One function per op family, defined in the family's .cpp.
    void registerAttentionOps();
    void registerContractionOps();
    void registerConvolutionOps();
    void registerElementwiseOps();
    void registerIndexingOps();
    void registerLossOps();
    void registerNormalizationOps();
    void registerPoolingOps();
    void registerProgramOps();
    void registerRandomOps();
    void registerReductionOps();
    void registerSegmentsOps();
    void registerShapeOps();

  public:
  }];
}

#endif // DPC_DIALECTS_NN_IR_NNDIALECT_TD
