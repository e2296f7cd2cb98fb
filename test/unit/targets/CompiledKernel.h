#ifndef DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H
#define DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H

#include "test/unit/targets/RunnableKernel.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>

namespace dpc::test {

/// The processors of the target `cpu` with vectors of 64 bytes: without and with instructions that
/// multiply bf16. Their kernels run on every machine, because CompiledKernel makes other code of
/// the instructions that the machine lacks.
constexpr llvm::StringLiteral kAvx512Processor = "x86-64-v4", kBf16Processor = "x86-64-v4-bf16";

/// An `nn.kernel` or `nn.update`, compiled and loaded into this process.
class CompiledKernel : public RunnableKernel {
public:
  /// Null, after a failed expectation, when it does not compile.
  static std::unique_ptr<CompiledKernel>
  create(mlir::Operation *op, const CodeOptions &options = {}, llvm::StringRef target = "cpu");

  /// The function itself.
  void call(char *const *buffers) { function(buffers); }

private:
  explicit CompiledKernel(mlir::TypeRange results) : RunnableKernel(results) {}
  void call(llvm::ArrayRef<TensorBuffer *> buffers) override;

  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*function)(char *const *) = nullptr;
};

/// Results of `op`, the text of an elementwise op but for its last operand, on
/// `inputs`, or on pairs of `inputs` and `seconds` as %x, %z, as floats of `type`.
std::vector<double> evaluateElements(const std::string &op, const std::string &type,
                                     const std::vector<double> &inputs,
                                     const std::vector<double> &seconds = {});

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H
