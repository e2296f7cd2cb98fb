#ifndef DPC_PASSES_LOWERING_BLOCKLOWERING_H
#define DPC_PASSES_LOWERING_BLOCKLOWERING_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Lowering/PersistentBuffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Lowers the ops of a block to exec ops, in their order. The results of kernels, packs, loops and
/// collectives get buffers of their own. The results of view ops (isView) become views of the
/// operand's buffer. Invariant: `buffers` maps every tensor that is already lowered to the buffer
/// that holds it.
class BlockLowering {
public:
  /// `nextId` is the id of the next collective of the entry. All ranks of a group lower the same
  /// collectives in the same order, so an id stands for the same collective on all of them.
  /// Messages and sums over stages have the numbers that dpc-cut-stages gave them, because each
  /// stage is lowered by itself.
  BlockLowering(mlir::OpBuilder &builder, PersistentBuffers &persistentBuffers,
                const mlir::SymbolTable &kernels, int64_t &nextId)
      : builder(builder), persistentBuffers(persistentBuffers), kernels(kernels), nextId(nextId) {}

  llvm::DenseMap<mlir::Value, mlir::Value> buffers;

  /// Lowers all ops except the terminator.
  mlir::LogicalResult run(mlir::Block &block);

  /// Creates a buffer with the type of `tensor`.
  mlir::Value createBuffer(mlir::Value tensor, exec::Space space = exec::Space::arena);

private:
  friend class PieceLowering;

  /// Creates a buffer for a result of a call, a loop or a pack. If a collective reads the result or
  /// a view of it, the buffer lies in space `shared`, because collectives work only there.
  mlir::Value createResultBuffer(mlir::Value result);
  mlir::LogicalResult lower(mlir::Operation *op);
  void lowerView(mlir::Operation *op);
  void lowerPack(dist::PackOp pack);
  void lowerCall(mlir::func::CallOp call);
  mlir::LogicalResult lowerMicro(dist::MicroOp micro);
  mlir::LogicalResult addToSum(dist::MicroOp micro, mlir::Value sum, mlir::Value value);
  /// Lowers an index along a mesh axis. Along a parallel axis, the index is the coordinate of the
  /// rank, which lies in a persistent buffer. Along the sequential axis of the loop, the index is
  /// the number of the microbatch, which an `exec.microbatch` op writes to a new buffer.
  mlir::LogicalResult lowerAxisIndex(dist::AxisIndexOp index);
  void lowerCollective(dist::CollectiveOpInterface op);
  /// Lowers a `dist.stage_reduce`, `dist.send` or `dist.recv`.
  void lowerMessage(mlir::Operation *op);
  /// Starts a collective that reads `source` and makes `result`, and waits for it.
  void startCollective(mlir::Location loc, dist::Collective kind, dist::Reduction reduction,
                       mlir::ArrayAttr axes, mlir::DenseI64ArrayAttr members, mlir::Value source,
                       mlir::Value result, int64_t id);
  /// The buffer of `source` if other ranks can read it, else a copy of it.
  mlir::Value getSharedBuffer(mlir::Location loc, mlir::Value source);

  mlir::OpBuilder &builder;
  PersistentBuffers &persistentBuffers;
  const mlir::SymbolTable &kernels;
  int64_t &nextId;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_BLOCKLOWERING_H
