#ifndef DPC_DIALECTS_NN_IR_NNDIALECT_TD
#define DPC_DIALECTS_NN_IR_NNDIALECT_TD

include "mlir/IR/OpBase.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::dpc::nn";
  let summary = "Tensor programs: models, their gradients and their training step";
  let description = [{
    Pure ops on tensors of static shape. Only `nn.broadcast` broadcasts; other ops
    never broadcast their operands implicitly. Therefore all operands and results of
    an elementwise op have one shape. A scalar is a tensor of rank 0. A constant
    whose elements are all equal is an `nn.constant` with a splat of the full shape.

    A module has functions, and for each state one `nn.variable` op, which holds the
    initial value. Function arguments have the attribute `#nn.arg` and results have
    `#nn.result`, which say their kind and their ONNX name.
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
    // Each function registers the ops of one family. It is defined in the source
    // file of the family.
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
