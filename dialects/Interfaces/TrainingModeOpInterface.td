#ifndef DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def TrainingModeOpInterface : OpInterface<"TrainingModeOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op that computes different results in training and in evaluation: batch
    normalisation, dropout or a draw of random numbers. Ops with this interface
    exist only at level `import`. `dpc-add-loss` replaces each of them by its
    training form in `@step` and by its evaluation form in `@eval`.
    `dpc-form-inference` replaces each of them by its evaluation form in `@infer`.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the training form. Returns one value per result, of the type of the
      result. The value may be null for a result that has no use.
    }], "::llvm::SmallVector<::mlir::Value>", "buildTraining",
      (ins "::mlir::OpBuilder &":$builder,
           "const ::dpc::TrainingContext &":$context)>,
    InterfaceMethod<[{
      Builds the evaluation form, and returns one value per result. For a result
      that is the new value of a state, it returns the old value.
    }], "::llvm::SmallVector<::mlir::Value>", "buildInference",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_TRAININGMODEOPINTERFACE_TD
