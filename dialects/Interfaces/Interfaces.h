#ifndef DPC_DIALECTS_INTERFACES_INTERFACES_H
#define DPC_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/Interfaces/ShardingRule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace dpc {

/// What an interpreter rule may ask of the machine that runs it.
class InterpreterContext {
public:
  virtual ~InterpreterContext() = default;

  /// Runs a one-block region on `arguments` and returns what its terminator
  /// yields.
  virtual mlir::LogicalResult runRegion(mlir::Region &region, llvm::ArrayRef<HostTensor> arguments,
                                        llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// Runs a one-block region of elementwise ops and constants, written for
  /// rank-0 tensors, on whole tensors of one shape at once.
  virtual mlir::LogicalResult runElementwiseRegion(mlir::Region &region,
                                                   llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<HostTensor> arguments,
                                                   llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// This device's coordinate on a mesh axis.
  virtual int64_t getAxisIndex(llvm::StringRef axis) = 0;

  /// This device's number in its group over `axes`, first axis slowest.
  virtual int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef> axes) = 0;

  /// Sets the coordinate on a sequential axis: the number of the iteration that
  /// runs.
  virtual void setSequentialIndex(llvm::StringRef axis, int64_t index) = 0;

  /// Gathers `mine` from every member of this device's group over `axes` (all
  /// devices that agree on the other axes), in coordinate order, first axis
  /// slowest. Blocks until all have come; fails when one of them has failed or
  /// brings another tensor type. The one primitive from which the interpreter
  /// builds every collective.
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> axes, const HostTensor &mine) = 0;
};

/// What the training form of an op may depend on.
struct TrainingContext {
  /// Rank-0 i64 tensors: the run's seed and the number of the step.
  mlir::Value seed, step;
  /// Consecutive equal groups of samples over which batch normalisation takes
  /// its statistics: the number of microbatches, times the ranks for
  /// per-rank statistics.
  int64_t batchGroups = 1;
};

/// How an op takes part in mixed precision (PrecisionOpInterface).
enum class Precision {
  narrow, ///< its products are computed with narrow factors
  follow, ///< it only moves or selects numbers
  lookup, ///< it takes rows of a table, whose gradients are added up
};

/// Most elements that a tensor of a program may have. Bytes and operations, of
/// one op and of all ops together, then fit 64 bits.
constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The product of the extents, or nullopt where it is above kMaxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);
/// Whether `type` is a tensor of static shape with at most kMaxElements.
bool hasCountableElements(mlir::Type type);

/// Bytes of every operand and every result, each counted once.
int64_t operandAndResultBytes(mlir::Operation *op);

/// Bytes of a tensor type; i1 takes a byte.
int64_t tensorBytes(mlir::Type type);

} // namespace dpc

#include "dialects/Interfaces/CostOpInterface.h.inc"
#include "dialects/Interfaces/DecomposableOpInterface.h.inc"
#include "dialects/Interfaces/DifferentiableOpInterface.h.inc"
#include "dialects/Interfaces/ElementwiseOpInterface.h.inc"
#include "dialects/Interfaces/GradientFormOpInterface.h.inc"
#include "dialects/Interfaces/InterpretableOpInterface.h.inc"
#include "dialects/Interfaces/PrecisionOpInterface.h.inc"
#include "dialects/Interfaces/ShardableOpInterface.h.inc"
#include "dialects/Interfaces/TrainingModeOpInterface.h.inc"

#endif // DPC_DIALECTS_INTERFACES_INTERFACES_H
