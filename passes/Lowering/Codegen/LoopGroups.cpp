// Which roots share loops: greedily, as many as one loop over rows allows; what
// it does not allow, a sum over rows, waits with what needs it.
// Whether it allows a root is found by emitting it into a function that is
// thrown away: the emitter knows the row of every element that is read.

#include "passes/Lowering/Codegen/LoopGroups.h"

#include "dialects/Interfaces/TiledOpInterface.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;
using namespace dpc;

static int64_t elementsOf(Operation *root) {
  return nn::typeOf(root->getResult(0)).getNumElements();
}

/// Whether the roots of `group` may share its loops.
static bool isLegal(const KernelGraph &graph, const LoopGroup &group) {
  Operation *first = group.stages[0][0];
  MLIRContext *context = first->getContext();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> trial = ModuleOp::create(first->getLoc());
  builder.setInsertionPointToEnd(trial->getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto function =
      builder.create<LLVM::LLVMFuncOp>(first->getLoc(), "trial", type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  KernelEmitter emitter(builder, first->getLoc(), graph);
  Value address = entry->getArgument(0);
  emitter.setScratch(address, nullptr);
  auto give = [&](Value value) {
    emitter.setBuffer(value, {address, storageType(value)});
  };
  for (auto constant : first->getBlock()->getOps<nn::ConstantOp>())
    if (!isSplat(constant))
      give(constant);
  for (const auto &stage : group.stages)
    for (Operation *root : stage) {
      for (Value value : root->getResults())
        give(value);
      for (Value value : graph.getReads(root))
        if (!isSplat(value))
          give(value);
    }
  return succeeded(emitter.emitGroup(group, 0)) && !emitter.hasIllegalRead();
}

namespace {
/// Roots that later loops make, and who needs one of them.
class Postponed {
public:
  explicit Postponed(const KernelGraph &graph) : graph(graph) {}

  void add(Operation *root) { postponed.insert(root); }
  bool isNeededBy(Operation *root) const {
    return llvm::any_of(graph.getReads(root), [&](Value value) {
      return postponed.contains(value.getDefiningOp());
    });
  }

private:
  const KernelGraph &graph;
  DenseSet<Operation *> postponed;
};
} // namespace

/// The longest group that begins with the first of `roots`, under a loop over
/// `rows` rows. What has no place in it is postponed, with what needs it.
static LoopGroup extend(const KernelGraph &graph, ArrayRef<Operation *> roots,
                        int64_t rows) {
  LoopGroup group;
  group.rows = rows;
  auto fits = [&](Operation *root) {
    return !isPushed(root) && elementsOf(root) > 0 &&
           elementsOf(root) % rows == 0;
  };
  if (!fits(roots[0]))
    return {};
  group.stages.push_back({roots[0]});
  if (rows > 1 && !isLegal(graph, group))
    return {};
  Postponed postponed(graph);
  auto tryJoin = [&](Operation *root) {
    if (!fits(root) || postponed.isNeededBy(root))
      return false;
    if (elementsOf(root) == elementsOf(group.stages.back()[0])) {
      LoopGroup together = group;
      together.stages.back().push_back(root);
      if (isLegal(graph, together)) {
        group = std::move(together);
        return true;
      }
    }
    LoopGroup after = group;
    after.stages.push_back({root});
    if (rows == 1 || !isLegal(graph, after))
      return false;
    group = std::move(after);
    return true;
  };
  for (Operation *root : roots.drop_front())
    if (!tryJoin(root))
      postponed.add(root);
  return group;
}

/// A pushed root, with the roots that are made from its elements as soon as
/// these are final.
static LoopGroup extendPushed(const KernelGraph &graph,
                              ArrayRef<Operation *> roots) {
  LoopGroup group{1, {{roots[0]}}};
  if (!isa<TiledOpInterface>(roots[0]))
    return group;
  Postponed postponed(graph);
  for (Operation *root : roots.drop_front()) {
    LoopGroup together = group;
    together.stages.resize(2);
    together.stages[1].push_back(root);
    if (isPushed(root) || elementsOf(root) != elementsOf(roots[0]) ||
        postponed.isNeededBy(root) || !isLegal(graph, together))
      postponed.add(root);
    else
      group = std::move(together);
  }
  return group;
}

static size_t rootsIn(const LoopGroup &group) {
  size_t count = 0;
  for (const auto &stage : group.stages)
    count += stage.size();
  return count;
}

/// Numbers of rows worth trying, finest first: the shapes of the smaller roots
/// are rows of the larger.
static std::set<int64_t, std::greater<>>
rowCandidates(ArrayRef<Operation *> roots) {
  int64_t largest = 0;
  for (Operation *root : roots)
    if (!isPushed(root))
      largest = std::max(largest, elementsOf(root));
  std::set<int64_t, std::greater<>> candidates;
  for (Operation *root : roots) {
    if (isPushed(root) || elementsOf(root) == largest)
      continue;
    int64_t rows = 1;
    for (int64_t extent : nn::typeOf(root->getResult(0)).getShape())
      if ((rows *= extent) > 1)
        candidates.insert(rows);
  }
  return candidates;
}

/// The best group that begins with the first of `roots`.
static LoopGroup bestGroup(const KernelGraph &graph,
                           ArrayRef<Operation *> roots) {
  if (elementsOf(roots[0]) == 0)
    return {1, {{roots[0]}}};
  if (isPushed(roots[0]))
    return extendPushed(graph, roots);
  LoopGroup best = extend(graph, roots, 1);
  for (int64_t rows : rowCandidates(roots)) {
    LoopGroup group = extend(graph, roots, rows);
    if (rootsIn(group) > rootsIn(best))
      best = std::move(group);
  }
  return best;
}

SmallVector<LoopGroup> dpc::formLoopGroups(const KernelGraph &graph) {
  SmallVector<LoopGroup> groups;
  SmallVector<Operation *> roots(graph.getRoots());
  while (!roots.empty()) {
    groups.push_back(bestGroup(graph, roots));
    llvm::erase_if(roots, [&](Operation *root) {
      return llvm::any_of(groups.back().stages, [&](const auto &stage) {
        return llvm::is_contained(stage, root);
      });
    });
  }
  return groups;
}
