#ifndef DPC_PASSES_LOWERING_CHANNELPLAN_H
#define DPC_PASSES_LOWERING_CHANNELPLAN_H

#include "dialects/NN/Channels/Channels.h"
#include "targets/Target.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Error.h"

namespace dpc {

/// The ops of a module that compute with channels last. The other ops compute in the order that
/// they have. A value has the order of the op that computes it; ops of the other order read a
/// transposed copy, which they share.
class ChannelPlan {
public:
  /// Chooses the ops for which the bytes of transpositions are fewest: those that the plan adds,
  /// and those of libraries, which copy the tensors of convolutions that are not in the order of
  /// the library's engines.
  ChannelPlan(mlir::ModuleOp module, const Target &target, const CodeOptions &options);

  /// Whether `op` computes with channels last.
  bool moves(mlir::Operation *op) const { return movedOps.contains(op); }
  /// The ops that compute with channels last, in program order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return movedOps.getArrayRef(); }
  /// The channels of the values of an op that moves.
  const ChannelDims &dimsOf(mlir::Operation *op) const { return ops.find(op)->second; }

  /// Whether `user`, the operand of an op, has any order: the op does not read the elements.
  static bool needsNoOrder(mlir::OpOperand &use);

  /// Checks that the values of all ops that move have the dimensions of the plan, and that each
  /// value has channels in one dimension.
  llvm::Error verify() const;

private:
  void spread(mlir::Operation *convolution);
  bool add(mlir::Operation *op, const ChannelDims &dims,
           llvm::SmallVectorImpl<mlir::Value> &reached);
  void choose(mlir::ModuleOp module, const Target &target, const CodeOptions &options);

  /// The ops that could move, and the channels of the values that they could move.
  llvm::MapVector<mlir::Operation *, ChannelDims> ops;
  llvm::MapVector<mlir::Value, int64_t> channels;
  llvm::SetVector<mlir::Operation *> movedOps;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_CHANNELPLAN_H
