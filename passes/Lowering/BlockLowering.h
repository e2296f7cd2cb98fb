#ifndef DPC_PASSES_LOWERING_BLOCKLOWERING_H
#define DPC_PASSES_LOWERING_BLOCKLOWERING_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Lowering/ComputeOrder.h"

namespace dpc {

/// How collectives are joined and waited for.
struct CommunicationOptions {
  /// Bytes at which the first bucket closes, and every later one.
  int64_t firstBucketBytes = 1 << 20;
  int64_t bucketBytes = 25 << 20;
  /// Whether something may be computed while a collective is under way.
  bool overlap = true;
};

/// The same reduction, as the runtime numbers it.
exec::Reduction reductionOf(dist::ReductionKind kind);

/// Lowers the ops of a block to exec ops. Invariant: `buffers` maps every
/// tensor lowered so far to the buffer that holds it, or will hold it once the
/// launch before has run and the collective that is pending on it was waited
/// for.
class BlockLowering {
public:
  BlockLowering(mlir::OpBuilder &builder, const CommunicationOptions &options)
      : builder(builder), options(options) {}

  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  /// Buffers that the launch that makes a value is to write.
  llvm::DenseMap<mlir::Value, mlir::Value> targets;

  /// Chooses the order of the block's ops and the buckets of its collectives.
  /// Comes before `targets` are chosen by the caller.
  mlir::LogicalResult prepare(mlir::Block &block);
  /// The same for a function, whose updates may come where they wait least.
  mlir::LogicalResult prepare(mlir::Block &block,
                              llvm::ArrayRef<OrderConstraint> constraints);
  /// Lowers all ops but the terminator.
  mlir::LogicalResult run(mlir::Block &block);

  /// A buffer for `tensor`.
  mlir::Value createBuffer(mlir::Value tensor,
                           exec::Space space = exec::Space::arena);
  /// This rank's share of `whole` in its group along `axes`, to hold `tensor`.
  mlir::Value createShareView(mlir::Value tensor, mlir::Value whole,
                              mlir::ArrayAttr axes);
  /// Copies `source` to `target` after what is pending on either.
  void copy(mlir::Location loc, mlir::Value source, mlir::Value target);
  /// Waits for the collectives that use the memory of `buffer`, before it is
  /// written.
  void settle(mlir::Value buffer);
  /// Waits for those that write it, before it is read.
  void settleOutput(mlir::Value buffer);
  void settleAll();

private:
  struct Bucket {
    llvm::SmallVector<dist::AllReduceOp> members;
    mlir::Value buffer;
    int64_t missing = 0;
  };

  bool isMadeFor(mlir::Value value, mlir::Operation *user);
  /// A buffer for a result of a launch or loop: where peers can read it if a
  /// collective does.
  mlir::Value createResultBuffer(mlir::Value result);
  /// Where a result of a launch or loop goes: its target, else such a buffer.
  mlir::Value placeResult(mlir::Value result);
  mlir::LogicalResult
  planBuckets(mlir::Block &block,
              const llvm::DenseMap<mlir::Operation *, int64_t> &depths);
  void planPacks(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  /// Lowers an op whose results are views of its operand; false if it is none.
  bool lowerView(mlir::Operation *op);
  void lowerPack(dist::PackOp pack);
  void lowerCall(mlir::func::CallOp call);
  mlir::LogicalResult lowerMicro(dist::MicroOp micro);
  void lowerCollective(mlir::Operation *op, exec::Collective kind,
                       exec::Reduction reduction, mlir::ArrayAttr axes);
  void start(mlir::Location loc, exec::Collective kind,
             exec::Reduction reduction, mlir::ArrayAttr axes, mlir::Value input,
             mlir::Value output);
  /// Counts `value` as computed: its bucket may be complete now.
  void markReady(mlir::Value value);

  mlir::OpBuilder &builder;
  const CommunicationOptions &options;
  std::vector<Bucket> buckets;
  /// Bucket of an all-reduce's operand.
  llvm::DenseMap<mlir::Value, unsigned> bucketOf;
  /// A buffer that a collective under way uses.
  struct Pending {
    mlir::Operation *root;
    mlir::Value event;
    bool isOutput;
  };
  /// Waits for those of `pending` that `ends` accepts, and forgets them.
  void waitFor(llvm::function_ref<bool(const Pending &)> ends);

  /// In the order of the starts.
  llvm::SmallVector<Pending> pending;
  int64_t nextId = 0;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_BLOCKLOWERING_H
