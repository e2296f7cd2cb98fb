#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<dpc::nn::NNDialect, dpc::dist::DistDialect,
                  dpc::exec::ExecDialect, mlir::func::FuncDialect>();
  dpc::registerPartitionModels(registry);
  dpc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dpc optimizer driver\n", registry));
}
