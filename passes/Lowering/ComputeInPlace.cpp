// Turns buffers into views of other buffers. For example, a value that is later copied, reduced or
// gathered into another buffer is computed in that buffer.

#include "passes/Lowering/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Exec/IR/Accesses.h"
#include "dialects/Exec/IR/InPlace.h"
#include "dialects/Exec/IR/Kernels.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_COMPUTEINPLACE
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

/// Merges buffers of one block into other buffers. Invariant: `uses` maps each allocated buffer
/// (root) to all accesses to it by ops of the block and their nested ops.
class BlockMerging {
public:
  BlockMerging(Block &block, SymbolTableCollection &symbols) : block(block), symbols(symbols) {
    int64_t position = 0;
    for (Operation &op : block) {
      ++position;
      op.walk([&](Operation *inner) {
        for (const Access &access : accessesOf(inner))
          uses[placeOf(access.buffer, symbols).root].push_back(
              {position, inner, access.buffer, access.isWrite});
      });
    }
  }

  void run() {
    // Collect the ops before the first merge, because a merge moves and erases ops of the block.
    auto starts = llvm::to_vector(block.getOps<StartOp>());
    auto copies = llvm::to_vector(block.getOps<CopyOp>());
    for (StartOp start : starts)
      if (start.getKind() == dist::Collective::reduce_scatter)
        bucketsFilledFrom.push_back(firstUseOf(placeOf(start.getInput(), symbols).root));
    // Collectives come first, because an in-place reduction of a bucket saves more memory than a
    // member that is computed in the bucket.
    for (StartOp start : starts)
      mergeCollective(start);
    for (CopyOp copy : copies)
      mergeCopy(copy);
  }

private:
  struct Use {
    int64_t position;
    Operation *op;
    Value buffer;
    bool isWrite;
  };

  void mergeCopy(CopyOp copy) {
    if (!mayMerge(copy, copy.getInput(), copy.getOutput(),
                  /*keepsValue=*/true))
      return;
    forget(copy);
    merge(copy.getInput(), copy.getOutput());
    copy.erase();
  }

  void mergeCollective(StartOp start) {
    Value input = start.getInput(), output = start.getOutput();
    OpBuilder builder(start);
    auto shardOf = [&](Value whole, Value shard) -> Value {
      return builder.create<ViewOp>(start.getLoc(), shard.getType(), whole, 0,
                                    bufferBytes(shard.getType()), start.getAxes());
    };
    switch (start.getKind()) {
    case dist::Collective::all_reduce:
      // The reduced values overwrite the operand, so no op may read the operand afterwards.
      if (mayMerge(start, input, output, /*keepsValue=*/false))
        merge(input, output);
      return;
    case dist::Collective::all_gather: {
      Value shard = shardOf(output, input);
      if (mayMerge(start, input, shard, /*keepsValue=*/true))
        return merge(input, shard);
      shard.getDefiningOp()->erase();
      return;
    }
    case dist::Collective::reduce_scatter: {
      Value shard = shardOf(input, output);
      if (mayMergeResult(start, output, shard))
        return merge(output, shard);
      shard.getDefiningOp()->erase();
      return;
    }
    default:
      return;
    }
  }

  /// Returns the root of `buffer`, if `buffer` covers all bytes of the root and the root belongs to
  /// this block. Otherwise returns null.
  BufferOp getWhole(Value buffer) const {
    Place place = placeOf(buffer, symbols);
    auto root = dyn_cast_or_null<BufferOp>(place.root);
    if (!root || root->getBlock() != &block || place.offset || place.stride || place.shardStride ||
        bufferBytes(root.getType()) != bufferBytes(buffer.getType()))
      return {};
    return root;
  }

  /// Whether all users of `root` can use `target` instead:
  /// - A user that takes a shard of `root` cannot use a target that is itself a shard.
  /// - A collective needs a target in space `shared`. The target may be a shard over the axes of
  ///   the collective, but not the slice of a microbatch. A message needs such a target that is no
  ///   shard.
  /// - `exec.zero` and `exec.run` can use neither a shard nor the slice of a microbatch.
  /// - All runs of a routine pass a frame in the same space. Therefore the space must stay, and a
  ///   buffer that differs between microbatches cannot become persistent: persistent buffers stay
  ///   where they are if all other buffers move to one space (dpc-assign-offsets).
  /// - Launches and copies can use shards and slices.
  bool fits(BufferOp root, Value target) {
    const Place to = placeOf(target, symbols);
    return llvm::all_of(uses[root], [&](const Use &use) {
      if (to.shardAxes && placeOf(use.buffer, symbols).shardAxes)
        return false;
      if (isa<RunOp>(use.op) &&
          (spaceOf(to.root) != root.getSpace() || (root.getMicro() && !isa<BufferOp>(to.root))))
        return false;
      if (isa<ZeroOp, RunOp>(use.op))
        return !to.shardAxes && !to.stride;
      if (isa<StartSendOp, StartRecvOp>(use.op))
        return spaceOf(to.root) == Space::shared && !to.stride && !to.shardAxes;
      auto start = dyn_cast<StartOp>(use.op);
      return !start || (spaceOf(to.root) == Space::shared && !to.stride &&
                        (!to.shardAxes || to.shardAxes == start.getAxes()));
    });
  }

  /// Whether the value of `source` that `op` reads may be computed in `target`:
  /// - From the first write of `source` to `op`, no other op may access `target`. As an exception,
  ///   the op that first writes `source` may read bytes of `target` that it does not overwrite, and
  ///   also bytes that it overwrites if it can compute in place.
  /// - After `op`, no op may write `source`, and no op may write `target` while other ops still
  ///   read `source`.
  /// - If `keepsValue` is false, `op` overwrites the value, so no op may read `source` after `op`.
  bool mayMerge(Operation *op, Value source, Value target, bool keepsValue) {
    BufferOp root = getWhole(source);
    if (!root || placeOf(target, symbols).root == root || !fits(root, target))
      return false;
    int64_t first = INT64_MAX, last = 0, here = 0;
    for (const Use &use : uses[root]) {
      first = std::min(first, use.position);
      last = std::max(last, use.position);
      if (use.op == op)
        here = use.position;
    }
    if (first == here || (!keepsValue && last > here))
      return false;
    for (const Use &use : uses[root])
      if (use.isWrite && use.position > here)
        return false;
    const Extent taken(target, symbols);
    return llvm::all_of(uses[placeOf(target, symbols).root], [&](const Use &use) {
      if (use.op == op || use.position < first || use.position > last ||
          !taken.mayOverlap(Extent(use.buffer, symbols)))
        return true;
      if (use.position == first)
        return !use.isWrite && mayReadAtFirst(use, root, target);
      return use.position > here && !use.isWrite;
    });
  }

  /// Whether the op that first writes `root` may write `target` instead. `read` is an access of
  /// this op that reads a part of `target`.
  bool mayReadAtFirst(const Use &read, BufferOp root, Value target) {
    auto launch = dyn_cast<LaunchOp>(read.op);
    if (!launch || launch->getBlock() != &block)
      return false;
    func::FuncOp kernel = findFunction(launch, symbols);
    const Extent from(read.buffer, symbols);
    auto inputs = llvm::enumerate(launch.getInputs());
    return llvm::all_of(llvm::enumerate(launch.getOutputs()), [&](auto output) {
      if (placeOf(output.value(), symbols).root != root)
        return true;
      Extent to = moved(output.value(), target);
      return !from.mayOverlap(to) ||
             (from.equals(to) && llvm::all_of(inputs, [&](auto input) {
                return input.value() != read.buffer ||
                       mayComputeInPlace(kernel, input.index(), output.index());
              }));
    });
  }

  /// Returns the extent that `buffer`, a part of a root, will have if the root becomes a view of
  /// `target`.
  Extent moved(Value buffer, Value target) const {
    Extent extent(buffer, symbols);
    Place to = placeOf(target, symbols);
    extent.place.root = to.root;
    extent.place.offset += to.offset;
    extent.place.stride += to.stride;
    if (to.shardAxes) {
      extent.place.shardAxes = to.shardAxes;
      extent.place.shardStride += to.shardStride;
    }
    return extent;
  }

  /// Whether `output`, the result of a collective, may be the rank's shard of the operand. This is
  /// possible only if no op uses the operand after the collective.
  bool mayMergeResult(StartOp start, Value output, Value shard) {
    BufferOp root = getWhole(output);
    Operation *from = placeOf(shard, symbols).root;
    if (!root || from == root || !isa<BufferOp>(from) || from->getBlock() != &block ||
        !fits(root, shard))
      return false;
    int64_t here = 0;
    for (const Use &use : uses[root])
      if (use.op == start)
        here = use.position;
    return llvm::none_of(uses[root], [&](const Use &use) { return use.position < here; }) &&
           llvm::none_of(uses[from], [&](const Use &use) { return use.position > here; }) &&
           !outlivesBuckets(root, here);
  }

  int64_t firstUseOf(Operation *root) {
    int64_t first = INT64_MAX;
    for (const Use &use : uses[root])
      first = std::min(first, use.position);
    return first;
  }

  /// Whether ops still read the result `root` of the reduce-scatter at position `here` when two or
  /// more later buckets are being filled. This happens if the optimizer needs the norm of all
  /// gradients. If the result were a shard of the operand, it would keep the complete bucket live
  /// for that time.
  bool outlivesBuckets(BufferOp root, int64_t here) {
    int64_t last = here;
    for (const Use &use : uses[root])
      last = std::max(last, use.position);
    return llvm::count_if(bucketsFilledFrom,
                          [&](int64_t first) { return here < first && first < last; }) > 1;
  }

  void forget(Operation *op) {
    for (const Access &access : accessesOf(op))
      llvm::erase_if(uses[placeOf(access.buffer, symbols).root],
                     [&](const Use &use) { return use.op == op; });
  }

  /// Makes the root of `source` a view of `target`.
  void merge(Value source, Value target) {
    Operation *root = placeOf(source, symbols).root;
    Operation *into = placeOf(target, symbols).root;
    moveBefore(target, root);
    Value buffer = root->getResult(0);
    if (target.getType() != buffer.getType()) {
      OpBuilder builder(root);
      target = builder.create<ViewOp>(root->getLoc(), buffer.getType(), target);
    }
    buffer.replaceAllUsesWith(target);
    root->erase();
    SmallVector<Use> moved = std::move(uses[root]);
    uses.erase(root);
    for (Use &use : moved)
      if (use.buffer == buffer)
        use.buffer = target;
    llvm::append_range(uses[into], moved);
  }

  /// Moves the op that defines `buffer`, and the ops on which it depends, to before `op`.
  void moveBefore(Value buffer, Operation *op) {
    Operation *definition = buffer.getDefiningOp();
    if (definition->getBlock() != op->getBlock() || definition->isBeforeInBlock(op))
      return;
    for (Value operand : definition->getOperands())
      moveBefore(operand, op);
    // Operation::moveBefore would invalidate the order of the block, which isBeforeInBlock would
    // then compute again for each merge. An insertion keeps the order.
    definition->remove();
    op->getBlock()->getOperations().insert(op->getIterator(), definition);
  }

  Block &block;
  SymbolTableCollection &symbols;
  DenseMap<Operation *, SmallVector<Use>> uses;
  /// For each reduce-scatter, the position of the first op that uses its operand, a bucket.
  SmallVector<int64_t> bucketsFilledFrom;
};

struct ComputeInPlacePass : dpc::impl::ComputeInPlaceBase<ComputeInPlacePass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    for (auto entry : getOperation().getOps<EntryOp>()) {
      entry.walk([&](LoopOp loop) { blocks.push_back(&loop.getBodyBlock()); });
      blocks.push_back(&entry.getBodyBlock());
    }
    for (auto routine : getOperation().getOps<RoutineOp>())
      blocks.push_back(&routine.getBodyBlock());
    SymbolTableCollection symbols;
    for (Block *block : blocks)
      BlockMerging(*block, symbols).run();
    moveFrames(symbols);
  }

private:
  /// Moves frames to the space of the buffers that runs provide, because a buffer may now be a part
  /// of a buffer in another space.
  void moveFrames(SymbolTableCollection &symbols) {
    for (auto entry : getOperation().getOps<EntryOp>())
      for (auto run : entry.getBodyBlock().getOps<RunOp>()) {
        auto routine = symbols.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr());
        for (auto frame : routine.getBodyBlock().getOps<FrameOp>())
          frame.setSpace(spaceOf(placeOf(run.getFrames()[frame.getNumber()], symbols).root));
      }
  }
};

} // namespace
