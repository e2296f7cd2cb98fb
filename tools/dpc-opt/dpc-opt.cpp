#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/NNDialect.h"
#include "passes/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<dpc::exec::ExecDialect, dpc::nn::NNDialect, mlir::func::FuncDialect>();
  dpc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dpc optimizer driver\n", registry));
}
