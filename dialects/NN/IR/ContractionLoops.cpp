// Loop rule of nn.dot for small products and integers.

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Loops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

static int64_t contractedElements(DotOp op) {
  int64_t count = 1;
  for (int64_t d : op.getLhsContract())
    count *= typeOf(op.getLhs()).getDimSize(d);
  return count;
}

int64_t DotOp::getElementCost() {
  return std::max<int64_t>(1, contractedElements(*this));
}

int64_t DotOp::getReadsPerElement(unsigned operand) {
  int64_t reads = 1;
  if (operand == 0)
    for (int64_t d : getRhsFree())
      reads *= typeOf(getRhs()).getDimSize(d);
  else
    for (int64_t d : getLhsFree())
      reads *= typeOf(getLhs()).getDimSize(d);
  return reads;
}

bool DotOp::isPushed() { return false; }
LogicalResult DotOp::emitLoops(LoopEmitter &e) { return failure(); }

Value DotOp::emitElementAt(LoopEmitter &e, unsigned,
                           const ElementIndex &index) {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  SmallVector<Index> left(lhs.getRank()), right(rhs.getRank());
  unsigned next = 0;
  for (auto [l, r] : llvm::zip_equal(getLhsBatch(), getRhsBatch()))
    left[l] = right[r] = index[next++];
  for (int64_t d : getLhsFree())
    left[d] = index[next++];
  for (int64_t d : getRhsFree())
    right[d] = index[next++];
  SmallVector<int64_t> extents;
  for (int64_t d : getLhsContract())
    extents.push_back(lhs.getDimSize(d));
  Combiner combiner(e, ReduceKind::sum, lhs.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        for (auto [i, l] : llvm::enumerate(getLhsContract()))
          left[l] = k[i];
        for (auto [i, r] : llvm::enumerate(getRhsContract()))
          right[r] = k[i];
        Value x = combiner.widen(e.read(getLhs(), left)),
              y = combiner.widen(e.read(getRhs(), right));
        return Values{combiner.accumulateProduct(carried[0], x, y)};
      })[0];
  return combiner.narrow(sum);
}
