// Element rule of nn.dot: an element is a sum over the contracted dimensions.

#include "dialects/NN/IR/Contraction.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
struct DotRule : ElementRule<DotRule, DotOp> {
  int64_t getElementCost(Operation *self) const {
    auto op = cast<DotOp>(self);
    return std::max<int64_t>(1, countAlong(op.getLhs(), op.getLhsContract()));
  }
  int64_t getReadsPerElement(Operation *self, unsigned operand) const {
    auto op = cast<DotOp>(self);
    return operand == 0 ? countAlong(op.getRhs(), op.getRhsFree())
                        : countAlong(op.getLhs(), op.getLhsFree());
  }

  /// The positions in both factors. Those along contracted dimensions are set
  /// later.
  struct Places {
    SmallVector<Index> left, right;

    Places(DotOp op, const ElementIndex &index)
        : left(typeOf(op.getLhs()).getRank()), right(typeOf(op.getRhs()).getRank()) {
      unsigned next = 0;
      for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
        left[l] = right[r] = index[next++];
      for (int64_t d : op.getLhsFree())
        left[d] = index[next++];
      for (int64_t d : op.getRhsFree())
        right[d] = index[next++];
    }
    void setContracted(DotOp op, ArrayRef<Index> k) {
      for (auto [i, l] : llvm::enumerate(op.getLhsContract()))
        left[l] = k[i];
      for (auto [i, r] : llvm::enumerate(op.getRhsContract()))
        right[r] = k[i];
    }
  };

  void reads(DotOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Places places(op, index);
    space.inLoops(extentsOf(op.getLhs(), op.getLhsContract()), [&](ArrayRef<Index> k) {
      places.setContracted(op, k);
      read(0, elementOf(space, op.getLhs(), places.left));
      read(1, elementOf(space, op.getRhs(), places.right));
    });
  }

  Value element(DotOp op, LoopEmitter &e, const ElementIndex &index) const {
    Places places(op, index);
    Combiner combiner(e, ReduceKind::sum, typeOf(op.getLhs()).getElementType(),
                      typeOf(op.getResult()).getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      places.setContracted(op, k);
      Value x = combiner.widen(e.read(op.getLhs(), places.left)),
            y = combiner.widen(e.read(op.getRhs(), places.right));
      return Values{combiner.accumulateProduct(carried[0], x, y)};
    };
    return combiner.narrow(combiner.reduce(extentsOf(op.getLhs(), op.getLhsContract()), add));
  }
};
} // namespace

void dpc::attachContractionRules(MLIRContext &context) { DotOp::attachInterface<DotRule>(context); }
