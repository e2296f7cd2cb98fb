// Which roots share loops: greedily, as many as one loop over rows allows.
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

/// The longest group of roots from `first` on under a loop over `rows` rows.
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
  for (Operation *root : roots.drop_front()) {
    if (!fits(root))
      break;
    if (elementsOf(root) == elementsOf(group.stages.back()[0])) {
      LoopGroup together = group;
      together.stages.back().push_back(root);
      if (isLegal(graph, together)) {
        group = together;
        continue;
      }
    }
    LoopGroup after = group;
    after.stages.push_back({root});
    if (rows == 1 || !isLegal(graph, after))
      break;
    group = after;
  }
  return group;
}

/// A pushed root, with the roots after it that are made from its elements as
/// soon as these are final.
static LoopGroup extendPushed(const KernelGraph &graph,
                              ArrayRef<Operation *> roots) {
  LoopGroup group{1, {{roots[0]}}};
  if (!isa<TiledOpInterface>(roots[0]))
    return group;
  for (Operation *root : roots.drop_front()) {
    if (isPushed(root) || elementsOf(root) != elementsOf(roots[0]))
      break;
    LoopGroup together = group;
    together.stages.resize(2);
    together.stages[1].push_back(root);
    if (!isLegal(graph, together))
      break;
    group = together;
  }
  return group;
}

static size_t rootsIn(const LoopGroup &group) {
  size_t count = 0;
  for (const auto &stage : group.stages)
    count += stage.size();
  return count;
}

SmallVector<LoopGroup> dpc::formLoopGroups(const KernelGraph &graph) {
  SmallVector<LoopGroup> groups;
  ArrayRef<Operation *> roots = graph.getRoots();
  while (!roots.empty()) {
    if (elementsOf(roots[0]) == 0) {
      groups.push_back({1, {{roots[0]}}});
      roots = roots.drop_front();
      continue;
    }
    if (isPushed(roots[0])) {
      groups.push_back(extendPushed(graph, roots));
      roots = roots.drop_front(rootsIn(groups.back()));
      continue;
    }
    LoopGroup best = extend(graph, roots, 1);
    // The shapes of the smaller roots are rows of the larger; finest first.
    std::set<int64_t, std::greater<>> candidates;
    int64_t largest = 0;
    for (Operation *root : roots) {
      if (isPushed(root))
        break;
      largest = std::max(largest, elementsOf(root));
    }
    for (Operation *root : roots) {
      if (isPushed(root))
        break;
      int64_t rows = 1;
      for (int64_t extent : nn::typeOf(root->getResult(0)).getShape()) {
        rows *= extent;
        if (elementsOf(root) < largest)
          candidates.insert(rows);
      }
    }
    for (int64_t rows : candidates) {
      if (rows <= 1)
        continue;
      LoopGroup group = extend(graph, roots, rows);
      if (rootsIn(group) > rootsIn(best))
        best = group;
    }
    groups.push_back(best);
    roots = roots.drop_front(rootsIn(best));
  }
  return groups;
}
