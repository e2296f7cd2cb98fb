#ifndef DPC_TEST_UNIT_DIALECTS_NN_IR_BLOCKINTERPRETER_H
#define DPC_TEST_UNIT_DIALECTS_NN_IR_BLOCKINTERPRETER_H

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

#include <random>
#include <string>

namespace dpc::test {

/// Loads the nn and func dialects.
void loadDialects(mlir::MLIRContext &context);

/// Runs the ops of a block one after another by their interpreter rules, on one
/// device. Floats are not rounded to their type, so that a gradient through f32
/// can be compared with differences.
class BlockInterpreter : public InterpreterContext {
public:
  using Values = llvm::DenseMap<mlir::Value, HostTensor>;

  /// Computes every value of `block` (its terminator excepted) from `values`,
  /// which holds its arguments.
  mlir::LogicalResult run(mlir::Block &block, Values &values);

  mlir::LogicalResult runRegion(mlir::Region &region, llvm::ArrayRef<HostTensor> arguments,
                                llvm::SmallVectorImpl<HostTensor> &yielded) override;
  /// Element by element: a check on implementations that go faster.
  mlir::LogicalResult runElementwiseRegion(mlir::Region &region, llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<HostTensor> arguments,
                                           llvm::SmallVectorImpl<HostTensor> &yielded) override;
  int64_t getAxisIndex(llvm::StringRef) override { return 0; }
  int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef>) override { return 0; }
  void setSequentialIndex(llvm::StringRef, int64_t) override {}
  mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *, llvm::ArrayRef<llvm::StringRef>, const HostTensor &mine) override {
    return std::vector<HostTensor>{mine};
  }
};

/// One argument of a tested function: its element values lie in [low, high].
struct Arg {
  const char *type;
  double low = -2, high = 2;
};

/// The module with `func.func @f(%a: .., %b: .., ..) { body return }`, the
/// arguments in alphabetical order.
mlir::OwningOpRef<mlir::ModuleOp> parseFunction(mlir::MLIRContext &context, const std::string &body,
                                                llvm::ArrayRef<Arg> args);

/// The one function of a module made by `parseFunction`.
mlir::func::FuncOp functionOf(mlir::ModuleOp module);

/// A tensor of `type` with elements in [low, high]; integers are uniform in
/// the integers there.
HostTensor randomTensor(mlir::Type type, double low, double high, std::mt19937 &random);

/// A tensor of `type` with these elements.
HostTensor tensorOf(mlir::Type type, const std::vector<double> &elements);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_DIALECTS_NN_IR_BLOCKINTERPRETER_H
