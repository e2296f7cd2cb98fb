#ifndef DPC_DIALECTS_INTERFACES_INTERFACES_H
#define DPC_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/Interfaces/ShardingRule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace dpc {

/// The services that an interpreter rule may use of the device that runs it.
class InterpreterContext {
public:
  virtual ~InterpreterContext() = default;

  /// Runs a one-block region on `arguments`. `yielded` gets the operands of its
  /// terminator.
  virtual mlir::LogicalResult runRegion(mlir::Region &region, llvm::ArrayRef<HostTensor> arguments,
                                        llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// Runs a one-block region of elementwise ops and constants. The region is
  /// written for rank-0 tensors, and is applied to all elements of tensors of one
  /// shape at once.
  virtual mlir::LogicalResult runElementwiseRegion(mlir::Region &region,
                                                   llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<HostTensor> arguments,
                                                   llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// This device's coordinate on a mesh axis.
  virtual int64_t getAxisIndex(llvm::StringRef axis) = 0;

  /// This device's number in its group over `axes`, first axis slowest.
  virtual int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef> axes) = 0;

  /// Sets the coordinate on a sequential axis, which is the number of the current
  /// iteration.
  virtual void setSequentialIndex(llvm::StringRef axis, int64_t index) = 0;

  /// Gathers `mine` from every member of this device's group over `axes` (all
  /// devices that agree on the other axes), in coordinate order, first axis
  /// slowest. Blocks until all members have arrived; fails if one of them has
  /// failed or passes another tensor type. The interpreter builds every collective
  /// from this primitive.
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> axes, const HostTensor &mine) = 0;
};

/// The values and settings that the training form of an op may depend on.
struct TrainingContext {
  /// Rank-0 i64 tensors: the run's seed and the number of the step.
  mlir::Value seed, step;
  /// The number of equal, consecutive groups of samples over which batch
  /// normalisation takes its statistics: the number of microbatches, times the
  /// number of ranks for per-rank statistics.
  int64_t batchGroups = 1;
};

/// The treatment of an op under mixed precision (PrecisionOpInterface).
enum class Precision {
  narrow, ///< it takes most of its time for products, which may have narrow factors
  follow, ///< it only moves or selects numbers
  lookup, ///< it gathers rows of a table, whose gradients are summed
};

/// Largest number of elements of a tensor. It keeps the bytes and operations of one
/// op, and of all ops together, within 64 bits.
constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The product of the extents, or nullopt if it is above kMaxElements.
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
