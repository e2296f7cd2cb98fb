#ifndef DPC_TEST_UNIT_PASSES_SHARDING_PARTITIONCHECK_H
#define DPC_TEST_UNIT_PASSES_SHARDING_PARTITIONCHECK_H

#include "test/unit/passes/Sharding/RandomProgram.h"

#include "interpreter/Session.h"
#include "planning/Machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>

namespace dpc::test {

/// A program, and all that its partitioning depends on.
struct PartitionCase {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RandomMesh mesh;
  Machine machine;
  /// Of integer arguments, by name (RandomArgument).
  std::map<std::string, int64_t> limits;
  /// A seed with which reshards make detours, if they shall.
  std::optional<uint32_t> detours;

  PartitionCase clone() const;
  /// The command that places it, but for detours.
  std::string commandLine() const;
};

/// The case of a random program; none if its text does not parse.
std::optional<PartitionCase> makeCase(mlir::MLIRContext &context, const RandomProgram &program);

/// The program with layouts, as it is partitioned; null, with errors, if that fails.
mlir::OwningOpRef<mlir::ModuleOp> place(const PartitionCase &trial, bool splitAtoms = true);

/// What argument `index` of `function` is given: elements from a hash of its name, floats in
/// [-1, 1), integers in [1, `limit`).
HostTensor makeArgument(mlir::func::FuncOp function, unsigned index, int64_t limit = 0);

/// The largest finite element of all, by magnitude; 1 if that is larger.
double findLargest(const TensorMap &tensors);

/// "" if `got` is `want` to 1e-12 of `scale`, else where not.
std::string findDifference(const HostTensor &got, const HostTensor &want, double scale);

/// Whether `errors` are about the one thing that microbatches cannot do.
bool isRefusal(llvm::StringRef errors);

/// Runs programs whole and partitioned, and compares what they give.
class PartitionCheck {
public:
  /// "" if all functions of the partitioned program give the same, to 1e-12 of the
  /// largest element of a result or of 1, else what is wrong.
  std::string compare(const PartitionCase &trial);

  /// Programs that microbatches cannot run.
  int refused = 0;
  /// Collectives of the partitioned programs by kind.
  std::map<std::string, int> met;
};

/// Whether ops of the program get an atom of their own under the case's machine.
bool hasSplits(const PartitionCase &trial);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDING_PARTITIONCHECK_H
