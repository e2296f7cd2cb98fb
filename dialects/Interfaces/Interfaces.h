#ifndef DPC_DIALECTS_INTERFACES_INTERFACES_H
#define DPC_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/Interfaces/ShardingRule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace dpc {

/// Classes of kernels (planning/KernelClass.h).
enum class KernelClass : int;
/// The class of an op without another one: elementwise if it computes anything, and a copy if not.
KernelClass classOfFlops(int64_t flops);

/// The services that a simulated device offers to the interpreter rules of its ops.
class InterpreterContext {
public:
  virtual ~InterpreterContext() = default;

  /// Runs a region of one block on `arguments`. Writes the operands of the block's
  /// terminator to `yielded`.
  virtual mlir::LogicalResult runRegion(mlir::Region &region, llvm::ArrayRef<HostTensor> arguments,
                                        llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// Runs a region of one block that has only elementwise ops and constants. The
  /// types in the region are tensors of rank 0. The region is applied to all
  /// elements of `arguments`, which have the shape `shape`, at once.
  virtual mlir::LogicalResult runElementwiseRegion(mlir::Region &region,
                                                   llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<HostTensor> arguments,
                                                   llvm::SmallVectorImpl<HostTensor> &yielded) = 0;

  /// This device's coordinate on a mesh axis.
  virtual int64_t getAxisIndex(llvm::StringRef axis) = 0;

  /// This device's number in its group along `axes`. The coordinate on the first
  /// axis varies slowest.
  virtual int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef> axes) = 0;

  /// Sets this device's coordinate on a sequential axis: the number of the current
  /// iteration of the loop.
  virtual void setSequentialIndex(llvm::StringRef axis, int64_t index) = 0;

  /// Returns the tensors `mine` of all members of this device's group along `axes`,
  /// in the order of their numbers (getGroupIndex). The group consists of the
  /// devices that have the same coordinates on all other axes. Blocks until all
  /// members have called this function. Fails if a member has failed or passes
  /// another tensor type. The interpreter builds every collective from this
  /// function.
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> axes, const HostTensor &mine) = 0;

  // The stages of a pipeline run different ops. Their messages therefore have numbers. The three
  // functions below exchange tensors with devices whose coordinates differ from this device's only
  // on `axis`. By default they fail with an error, because a context without stages has no such
  // devices.

  /// Sends `tensor` to the device at coordinate `stage`. Does not wait for the receiver.
  virtual mlir::LogicalResult send(mlir::Operation *op, llvm::StringRef axis, int64_t stage,
                                   int64_t number, const HostTensor &tensor);

  /// Returns the next tensor that the device at coordinate `stage` sends with this number. Blocks
  /// until it is there. Fails if it can never arrive.
  virtual mlir::FailureOr<HostTensor> receive(mlir::Operation *op, llvm::StringRef axis,
                                              int64_t stage, int64_t number);

  /// Like exchange(), for the devices at the coordinates `stages`. The members run different ops
  /// with the same number.
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchangeAmong(mlir::Operation *op, llvm::StringRef axis, llvm::ArrayRef<int64_t> stages,
                int64_t number, const HostTensor &mine);
};

/// Emits an error on `op`, which exchanges a tensor with another stage although the device is no
/// stage of a pipeline. Returns failure.
mlir::LogicalResult failWithoutStages(mlir::Operation *op);

/// The values and settings from which an op may build its training form
/// (TrainingModeOpInterface).
struct TrainingContext {
  /// i64 tensors of rank 0: the seed of the run and the number of the step.
  mlir::Value seed, step;
  /// Batch normalisation divides the samples into this many equal, consecutive
  /// groups, and computes statistics for each group. Each microbatch is one
  /// group. If each rank has its own statistics, each shard of a microbatch is
  /// one group.
  int64_t batchGroups = 1;
};

/// The treatment of an op under mixed precision (PrecisionOpInterface).
enum class Precision {
  narrow, ///< spends most of its time on products, which may have narrow factors
  follow, ///< only moves or selects numbers
  lookup, ///< gathers rows of a table, and sums their gradients
};

/// The largest number of elements that a tensor may have. With this limit, 64 bits
/// suffice to count the bytes and operations of one op and of all ops together.
constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The product of the extents, or nullopt if it is above kMaxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);
/// Whether `type` is a tensor of static shape with at most kMaxElements elements.
bool hasCountableElements(mlir::Type type);

/// Whether the results of `op` are new values of states (KernelOpInterface).
bool updatesState(mlir::Operation *op);

/// The bytes of all operands and results of `op`.
int64_t operandAndResultBytes(mlir::Operation *op);

/// The bytes of a tensor of type `type`; an element of type i1 takes one byte. 0 if
/// it is no tensor.
int64_t tensorBytes(mlir::Type type);

} // namespace dpc

#include "dialects/Interfaces/CostOpInterface.h.inc"
#include "dialects/Interfaces/DecomposableOpInterface.h.inc"
#include "dialects/Interfaces/DifferentiableOpInterface.h.inc"
#include "dialects/Interfaces/ElementwiseOpInterface.h.inc"
#include "dialects/Interfaces/GradientFormOpInterface.h.inc"
#include "dialects/Interfaces/InterpretableOpInterface.h.inc"
#include "dialects/Interfaces/KernelOpInterface.h.inc"
#include "dialects/Interfaces/PrecisionOpInterface.h.inc"
#include "dialects/Interfaces/ShardableOpInterface.h.inc"
#include "dialects/Interfaces/TrainingModeOpInterface.h.inc"

#endif // DPC_DIALECTS_INTERFACES_INTERFACES_H
