// Chooses the loops over the elements of a value. One loop over all elements
// suffices if each element depends only on elements with the same number. For a
// transposition or a broadcast, the code needs the positions of the element, so it
// needs nested loops whose variables are these positions.

#include "targets/Loops/Kernels/LoopNest.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace dpc;

/// The extents of a nest over `count` elements. Each of `cuts` is a stride at which
/// loops must be split: some innermost loops together must have exactly this number
/// of iterations. For example, 32 elements with the cut 8 give the extents 4 and 8. Null
/// if there is no nest with this property.
static std::optional<SmallVector<int64_t>> nestExtents(int64_t count, ArrayRef<int64_t> cuts) {
  SmallVector<int64_t> sizes(cuts);
  sizes.push_back(count);
  llvm::sort(sizes);
  SmallVector<int64_t> extents;
  int64_t inner = 1;
  for (int64_t size : sizes) {
    if (size <= inner)
      continue;
    if (size % inner != 0 || size > count)
      return std::nullopt;
    extents.push_back(size / inner);
    inner = size;
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
}

/// The op that computes `value`, if the value is inlined. Null if it is in memory
/// or a constant.
static Operation *producerInPlace(const KernelGraph &graph, Value value) {
  Operation *op = value.getDefiningOp();
  return !op || graph.isMaterialised(value) || isa<nn::ConstantOp>(op) ? nullptr : op;
}

/// `op` and all inlined ops whose element n is needed for element n of `op`. The
/// chain of operands is followed only through ops that keep element numbers
/// (keepsNumbers). Each op is listed once, even if it has several readers.
static llvm::SetVector<Operation *> computedWith(const KernelGraph &graph, Operation *op) {
  llvm::SetVector<Operation *> ops;
  ops.insert(op);
  for (size_t i = 0; i < ops.size(); ++i)
    if (keepsNumbers(ops[i]))
      for (Value operand : ops[i]->getOperands())
        if (Operation *producer = producerInPlace(graph, operand))
          ops.insert(producer);
  return ops;
}

static SmallVector<int64_t> splitStridesOp(const KernelGraph &graph, Operation *root) {
  SmallVector<int64_t> cuts;
  for (Operation *op : computedWith(graph, root)) {
    if (keepsNumbers(op))
      continue;
    ArrayRef<int64_t> shape = nn::typeOf(op->getResult(0)).getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    auto broadcast = dyn_cast<nn::BroadcastOp>(op);
    bool flat = broadcast && splitStrides(graph, broadcast.getInput()).empty();
    for (int64_t d = 0; d + 1 < int64_t(shape.size()); ++d) {
      // Two neighbouring dimensions stay one loop if the broadcast repeats both, or
      // takes both from its operand.
      bool isKept = flat && llvm::is_contained(broadcast.getDimensions(), d),
           nextKept = flat && llvm::is_contained(broadcast.getDimensions(), d + 1);
      if (!flat || isKept != nextKept)
        cuts.push_back(strides[d]);
    }
  }
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

SmallVector<int64_t> dpc::splitStrides(const KernelGraph &graph, Value value) {
  Operation *op = producerInPlace(graph, value);
  return op ? splitStridesOp(graph, op) : SmallVector<int64_t>();
}

/// The loop of `extents` along which `transpose` reads memory contiguously. Null if this
/// is the innermost loop, along which `transpose` also writes contiguously. Also null if
/// `extents` does not have exactly one loop for each dimension of the result with an
/// extent above 1.
static std::optional<unsigned> orderedDimension(nn::TransposeOp transpose,
                                                ArrayRef<int64_t> extents) {
  // Each dimension with an extent above 1 has a loop. The loop along the last
  // dimension of the operand reads contiguously.
  std::optional<unsigned> strided;
  int64_t last = -1;
  SmallVector<int64_t> loops;
  ArrayRef<int64_t> shape = nn::typeOf(transpose.getResult()).getShape();
  for (auto [extent, from] : llvm::zip_equal(shape, transpose.getPermutation())) {
    if (extent == 1)
      continue;
    if (from > last) {
      last = from;
      strided = loops.size();
    }
    loops.push_back(extent);
  }
  bool isMoved = strided && *strided + 1 != loops.size();
  return isMoved && extents == ArrayRef(loops) ? strided : std::nullopt;
}

/// Returns orderedDimension() for the first transposition for which it is not null. `op`
/// and the ops inlined into it are searched in the order of operands, but only through
/// ops that keep element numbers (keepsNumbers).
static std::optional<unsigned> transposedDimension(const KernelGraph &graph, Operation *op,
                                                   ArrayRef<int64_t> extents) {
  SmallVector<Operation *> open = {op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto transpose = dyn_cast<nn::TransposeOp>(next)) {
      if (auto dimension = orderedDimension(transpose, extents))
        return dimension;
    } else if (keepsNumbers(next)) {
      for (Value operand : llvm::reverse(next->getOperands()))
        if (Operation *producer = producerInPlace(graph, operand))
          open.push_back(producer);
    }
  }
  return std::nullopt;
}

std::optional<LoopNest> dpc::nestOf(const KernelGraph &graph, ArrayRef<Operation *> roots,
                                    const LoopRows &rows) {
  RankedTensorType type = nn::typeOf(roots[0]->getResult(0));
  int64_t elements = type.getNumElements(), run = rows.runOf(elements),
          pieces = rows.piecesOf(elements), step = run * rows.count;
  // The cuts inside a run, and between the pieces of a row.
  SmallVector<int64_t> inner, outer;
  for (Operation *root : roots)
    for (int64_t cut : splitStridesOp(graph, root)) {
      if (cut > run && cut % run != 0)
        return std::nullopt;
      if (cut < run)
        inner.push_back(cut);
      if (pieces > 1 && cut > step && cut % step != 0)
        return std::nullopt;
      if (pieces > 1 && cut > step)
        outer.push_back(cut / step);
    }
  LoopNest nest;
  auto extents = nestExtents(run, inner), around = nestExtents(pieces, outer);
  if (extents && around) {
    nest.extents = *around;
    nest.around = around->size();
    llvm::append_range(nest.extents, *extents);
  } else if (roots.size() == 1 && rows.count == 1) {
    nest.extents.assign(type.getShape().begin(), type.getShape().end());
  } else {
    return std::nullopt;
  }
  for (Operation *root : roots)
    if (!nest.strided && rows.count == 1)
      nest.strided = transposedDimension(graph, root, nest.extents);
  return nest;
}

SmallVector<int64_t> dpc::readingExtents(const KernelGraph &graph, Value value) {
  RankedTensorType type = nn::typeOf(value);
  if (auto nest = nestExtents(type.getNumElements(), splitStrides(graph, value)))
    return *nest;
  return SmallVector<int64_t>(type.getShape());
}
