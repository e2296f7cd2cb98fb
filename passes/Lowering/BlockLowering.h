#ifndef DPC_PASSES_LOWERING_BLOCKLOWERING_H
#define DPC_PASSES_LOWERING_BLOCKLOWERING_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Lowering/PersistentBuffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Lowers the ops of a block to exec ops, in their order, each value to a
/// buffer of its own. Invariant: `buffers` maps every tensor lowered so far to
/// the buffer that holds it.
class BlockLowering {
public:
  BlockLowering(mlir::OpBuilder &builder, PersistentBuffers &persistentBuffers,
                const mlir::SymbolTable &kernels)
      : builder(builder), persistentBuffers(persistentBuffers), kernels(kernels) {}

  llvm::DenseMap<mlir::Value, mlir::Value> buffers;

  /// Lowers all ops but the terminator.
  mlir::LogicalResult run(mlir::Block &block);

  /// A buffer for `tensor`.
  mlir::Value createBuffer(mlir::Value tensor, exec::Space space = exec::Space::arena);

private:
  /// A buffer for a result of a launch or loop: in space `shared`, on which
  /// collectives work, if one reads it.
  mlir::Value createResultBuffer(mlir::Value result);
  mlir::LogicalResult lower(mlir::Operation *op);
  void lowerView(mlir::Operation *op);
  void lowerPack(dist::PackOp pack);
  void lowerCall(mlir::func::CallOp call);
  mlir::LogicalResult lowerMicro(dist::MicroOp micro);
  mlir::LogicalResult addToSum(dist::MicroOp micro, mlir::Value sum, mlir::Value value);
  /// The rank's coordinate is a persistent buffer, the microbatch's number is
  /// written where it is needed.
  mlir::LogicalResult lowerAxisIndex(dist::AxisIndexOp index);
  void lowerCollective(mlir::Operation *op, exec::Collective kind, dist::ReductionKind reduction,
                       mlir::ArrayAttr axes);

  mlir::OpBuilder &builder;
  PersistentBuffers &persistentBuffers;
  const mlir::SymbolTable &kernels;
  /// The number of the next collective of the entry.
  int64_t nextId = 0;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_BLOCKLOWERING_H
