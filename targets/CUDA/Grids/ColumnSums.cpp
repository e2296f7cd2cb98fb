// Finds sums over columns whose terms the loops of a launch have in registers.

#include "targets/CUDA/Grids/ColumnSums.h"

#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/SumTypes.h"
#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

/// With fewer rows or columns, a block has too little work.
static const int64_t kFewest = ColumnSums::kColumnsPerBlock;
/// The number of blocks that keep a device busy, and the fewest rows of a block, if there are
/// enough rows. The partial sums of a block have the bytes of one row.
static const int64_t kEnoughBlocks = 1 << 10, kFewestRows = 4;
/// In launches of at least kManyElements elements, blocks of so few columns have too few threads:
/// kEnoughBlocks of them leave a device idle, which more blocks without sums keep busy.
static const int64_t kManyElements = 1 << 20, kFewColumns = 256;

static Type accumulatorOf(nn::ReduceOp sum) {
  return nn::accumulatorType(nn::typeOf(sum.getInput()).getElementType());
}

int64_t ColumnSums::countBlocks() const { return llvm::divideCeil(rows, rowsPerBlock); }

int64_t ColumnSums::countSumBlocks() const {
  return static_cast<int64_t>(sums.size() * llvm::divideCeil(columns, kColumnsPerBlock));
}

Type ColumnSums::getPartialType() const {
  nn::ReduceOp first = sums.front();
  return accumulatorOf(first);
}

int64_t ColumnSums::getPartialBytes() const {
  return llvm::divideCeil(getPartialType().getIntOrFloatBitWidth(), 8);
}

int64_t ColumnSums::getVector() const {
  const int64_t kWidestAccess = 16;
  return std::min(neighbours, kWidestAccess / getPartialBytes());
}

int64_t ColumnSums::getSharedBytes() const {
  return static_cast<int64_t>(sums.size()) * columns * getPartialBytes();
}

nn::ReduceOp dpc::asColumnSum(Operation *op) {
  auto sum = dyn_cast<nn::ReduceOp>(op);
  if (!sum || sum.getKind() != nn::ReduceKind::sum)
    return {};
  const RankedTensorType type = nn::typeOf(sum.getInput());
  ArrayRef<int64_t> reduced = sum.getDimensions();
  const bool areFirst = llvm::all_of(llvm::enumerate(reduced),
                                     [](auto d) { return d.value() == int64_t(d.index()); });
  if (!isa<FloatType>(type.getElementType()) || reduced.empty() || !areFirst ||
      int64_t(reduced.size()) >= type.getRank())
    return {};
  return sum;
}

/// Whether the loops of stage `stage` can compute the terms of `sum` when they compute the elements
/// with the same numbers, and have one of the large values that the terms need, so that a launch
/// of its own would read more.
static bool hasTerms(const KernelGraph &graph, const LoopGroup &group, unsigned stage,
                     nn::ReduceOp sum) {
  DenseMap<Value, unsigned> stageOf;
  llvm::SetVector<Value> known;
  for (auto [number, other] : llvm::enumerate(group.stages))
    for (Operation *root : other.roots) {
      for (Value result : root->getResults())
        stageOf[result] = number;
      if (number == stage) {
        known.insert(root->result_begin(), root->result_end());
        for (Value value : graph.getReads(root))
          known.insert(value);
      }
    }
  const int64_t elements = group.stages[stage].getElements();
  bool sharesLarge = false;
  for (Value value : graph.getReads(sum)) {
    if (auto made = stageOf.find(value); made != stageOf.end() && made->second > stage)
      return false;
    sharesLarge |= nn::typeOf(value).getNumElements() >= elements && known.contains(value);
  }
  if (!sharesLarge)
    return false;
  // The terms must need no other loops than the elements of the stage.
  SmallVector<Operation *> computed(group.stages[stage].roots);
  if (Operation *op = sum.getInput().getDefiningOp(); op && !graph.isMaterialised(sum.getInput()))
    computed.push_back(op);
  const std::optional<LoopNest> nest = nestOf(graph, computed, group.rows);
  return nest && nest->extents == group.stages[stage].nest.extents &&
         canReadInLoops(graph, group, stage, sum.getInput());
}

std::optional<ColumnSums> dpc::findColumnSums(const KernelGraph &graph, const LoopGroup &group,
                                              ArrayRef<nn::ReduceOp> candidates,
                                              int64_t sharedBytes) {
  ColumnSums found;
  found.rows = group.rows.count;
  if (found.rows < kFewest || group.rows.isSplit())
    return std::nullopt;
  found.rowsPerBlock = std::max<int64_t>(kFewestRows, llvm::divideCeil(found.rows, kEnoughBlocks));
  for (unsigned stage = 0; stage < group.stages.size(); ++stage) {
    const LoopGroup::Stage &loops = group.stages[stage];
    found.stage = stage;
    found.columns = loops.getElements() / found.rows;
    if (found.columns < kFewest || loops.nest.strided || loops.nest.around ||
        (loops.getElements() >= kManyElements && found.columns < kFewColumns))
      continue;
    found.sums.clear();
    for (nn::ReduceOp sum : candidates)
      if (nn::typeOf(sum.getResult()).getNumElements() == found.columns &&
          nn::typeOf(sum.getInput()).getNumElements() == loops.getElements() &&
          (found.sums.empty() || accumulatorOf(sum) == found.getPartialType()) &&
          hasTerms(graph, group, stage, sum))
        found.sums.push_back(sum);
    while (!found.sums.empty() && found.getSharedBytes() > sharedBytes)
      found.sums.pop_back();
    if (!found.sums.empty())
      return found;
  }
  return std::nullopt;
}

llvm::Error ColumnSums::verify(const KernelGraph &graph, const LoopGroup &group) const {
  if (sums.empty() || stage >= group.stages.size())
    return planError("{0} sums over columns are of stage {1} of {2}", sums.size(), stage,
                     group.stages.size());
  if (rows != group.rows.count || rowsPerBlock < 1 ||
      group.stages[stage].getElements() != rows * columns)
    return planError("sums over {0} columns of {1} rows, {2} per block, are of {3} rows with {4} "
                     "elements",
                     columns, rows, rowsPerBlock, group.rows.count,
                     group.stages[stage].getElements());
  if (const LoopNest &nest = group.stages[stage].nest;
      neighbours < 1 || (neighbours > 1 && nest.extents.back() % neighbours != 0))
    return planError("a thread adds to {0} columns together, and loops have {1}", neighbours,
                     nest.extents.back());
  for (nn::ReduceOp sum : sums)
    if (!asColumnSum(sum) || accumulatorOf(sum) != getPartialType() ||
        nn::typeOf(sum.getResult()).getNumElements() != columns ||
        !hasTerms(graph, group, stage, sum))
      return planError("the loops of stage {0} do not have the terms of {1}", stage,
                       sum->getName());
  return llvm::Error::success();
}
