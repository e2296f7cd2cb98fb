#ifndef DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def TrainingModeOpInterface : OpInterface<"TrainingModeOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op with different meanings in training and in evaluation (batch
    normalisation, dropout). Such ops exist only at level `import`: building the
    step replaces each of them by its training form in `@step` and by its evaluation
    form in `@eval`.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the training form and returns one value a result, of the result's
      type, or a null value for a result that has no use.
    }], "::llvm::SmallVector<::mlir::Value>", "buildTraining",
      (ins "::mlir::OpBuilder &":$builder,
           "const ::dpc::TrainingContext &":$context)>,
    InterfaceMethod<[{
      Builds the evaluation form and returns one value a result. State results
      return their old value.
    }], "::llvm::SmallVector<::mlir::Value>", "buildInference",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD
