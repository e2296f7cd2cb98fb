#ifndef DPC_TEST_UNIT_TARGETS_KERNELTEST_H
#define DPC_TEST_UNIT_TARGETS_KERNELTEST_H

#include "test/unit/targets/RunnableKernel.h"

#include "test/unit/dialects/NN/IR/OpCases.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

namespace dpc::test {

struct Kernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr; // an nn.kernel, or the nn.update the case is
};

/// The case as an nn.kernel in a function of its own, with floats of
/// `floatType` in the place of f64.
Kernel parseKernel(mlir::MLIRContext &context, const OpCase &opCase, llvm::StringRef floatType);

/// How an op becomes a kernel that runs; null after a failed expectation.
using MakeKernel = llvm::function_ref<std::unique_ptr<RunnableKernel>(mlir::Operation *)>;

/// What tests of the kernels of all targets share.
class KernelTest : public testing::Test {
protected:
  KernelTest();

  /// Compares the case with the interpreter, alone and with each result in each
  /// buffer it may share.
  void check(const OpCase &opCase, llvm::StringRef floatType, double tolerance, MakeKernel make);
  // Properties of all targets; `name` tells in messages what runs.
  void expectNoTraps(MakeKernel make);
  void expectEqualElements(MakeKernel make, llvm::StringRef name);
  void expectNanKept(MakeKernel make, llvm::StringRef name);

  mlir::MLIRContext context;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_KERNELTEST_H
