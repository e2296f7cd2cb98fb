// Element rules of the three ops of a convolution: a sum over what meets an
// element, padding left out.

#include "dialects/NN/IR/Convolution.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// A product of an element of each operand. It counts where the spatial
/// positions of the first are inside it, and the `multiples` are multiples of
/// the strides.
struct Term {
  SmallVector<Index> first, second;
  SmallVector<Index> multiples;
};

/// Base of the three rules. `Model` says over which extents an element's sum
/// runs, and the term at a multi-index `k` of them:
///
///   SmallVector<int64_t> extents(const Convolution &c) const
///   Term term(const Convolution &c, IndexSpace &space,
///             const ElementIndex &index, ArrayRef<Index> k) const
template <typename Model, typename Op> struct ConvolutionRule : ElementRule<Model, Op> {
  int64_t getElementCost(Operation *op) const { return productsPer(op, op->getResult(0)); }
  int64_t getReadsPerElement(Operation *op, unsigned operand) const {
    return productsPer(op, op->getOperand(operand));
  }

  void reads(Op op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Convolution c = op.getConvolution();
    SmallVector<Index> k;
    for (int64_t extent : model().extents(c))
      k.push_back(space.variable(0, extent - 1));
    Term term = model().term(c, space, index, k);
    read(0, elementOf(space, op->getOperand(0), term.first));
    read(1, elementOf(space, op->getOperand(1), term.second));
  }

  Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    Convolution c = op.getConvolution();
    Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      Term term = model().term(c, e, index, k);
      auto product = [&] {
        Value y = combiner.widen(e.read(op->getOperand(1), term.second)),
              x = combiner.widen(e.read(op->getOperand(0), term.first));
        return combiner.accumulateProduct(carried[0], x, y);
      };
      return Values{e.branch(counts(op, e, term), product, [&] { return Value(carried[0]); })};
    };
    return combiner.narrow(combiner.reduce(model().extents(c), add));
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }

  static int64_t productsPer(Operation *op, Value tensor) {
    Convolution c = cast<Op>(op).getConvolution();
    int64_t products =
        c.y.getNumElements() * ShapedType::getNumElements(c.w.getShape().drop_front(1));
    return std::max<int64_t>(1, products / std::max<int64_t>(1, typeOf(tensor).getNumElements()));
  }

  static Value counts(Op op, LoopEmitter &e, const Term &term) {
    Window window = op.getConvolution().window;
    Value all;
    for (auto [d, extent] : llvm::enumerate(typeOf(op->getOperand(0)).getShape().drop_front(2))) {
      if (!term.multiples.empty())
        all = e.both(all, e.inRange(e.mod(term.multiples[d], window.strides[d]), 0, 1));
      all = e.both(all, e.inRange(term.first[d + 2], 0, extent));
    }
    return all;
  }
};

struct ConvRule : ConvolutionRule<ConvRule, ConvOp> {
  SmallVector<int64_t> extents(const Convolution &c) const {
    return SmallVector<int64_t>(c.w.getShape().drop_front(1));
  }
  Term term(const Convolution &c, IndexSpace &space, const ElementIndex &index,
            ArrayRef<Index> k) const {
    Index group = space.floorDiv(index[1], c.w.getDimSize(0) / c.groups);
    Term term{{index[0], group * c.w.getDimSize(1) + k[0]}, {index[1]}, {}};
    llvm::append_range(term.second, k);
    for (size_t d = 0; d + 1 < k.size(); ++d)
      term.first.push_back(index[d + 2] * c.window.strides[d] + k[d + 1] * c.window.dilations[d] -
                           c.window.padLow[d]);
    return term;
  }
};

struct ConvInputGradRule : ConvolutionRule<ConvInputGradRule, ConvInputGradOp> {
  SmallVector<int64_t> extents(const Convolution &c) const {
    SmallVector<int64_t> extents{c.w.getDimSize(0) / c.groups};
    llvm::append_range(extents, c.w.getShape().drop_front(2));
    return extents;
  }
  Term term(const Convolution &c, IndexSpace &space, const ElementIndex &index,
            ArrayRef<Index> k) const {
    int64_t inputs = c.w.getDimSize(1), outputs = c.w.getDimSize(0) / c.groups;
    Index output = space.floorDiv(index[1], inputs) * outputs + k[0];
    Term term{{index[0], output}, {output, space.mod(index[1], inputs)}, {}};
    for (size_t d = 0; d + 1 < k.size(); ++d) {
      Index at = index[d + 2] + c.window.padLow[d] - k[d + 1] * c.window.dilations[d];
      term.second.push_back(k[d + 1]);
      term.multiples.push_back(at);
      term.first.push_back(space.floorDiv(at, c.window.strides[d]));
    }
    return term;
  }
};

struct ConvWeightGradRule : ConvolutionRule<ConvWeightGradRule, ConvWeightGradOp> {
  SmallVector<int64_t> extents(const Convolution &c) const {
    SmallVector<int64_t> extents{c.y.getDimSize(0)};
    llvm::append_range(extents, c.y.getShape().drop_front(2));
    return extents;
  }
  Term term(const Convolution &c, IndexSpace &space, const ElementIndex &index,
            ArrayRef<Index> k) const {
    int64_t inputs = c.w.getDimSize(1), outputs = c.w.getDimSize(0) / c.groups;
    Index channel = space.floorDiv(index[0], outputs) * inputs + index[1];
    Term term{{k[0], channel}, {k[0], index[0]}, {}};
    for (size_t d = 0; d + 1 < k.size(); ++d) {
      term.second.push_back(k[d + 1]);
      term.first.push_back(k[d + 1] * c.window.strides[d] + index[d + 2] * c.window.dilations[d] -
                           c.window.padLow[d]);
    }
    return term;
  }
};

} // namespace

void dpc::attachConvolutionRules(MLIRContext &context) {
  ConvOp::attachInterface<ConvRule>(context);
  ConvInputGradOp::attachInterface<ConvInputGradRule>(context);
  ConvWeightGradOp::attachInterface<ConvWeightGradRule>(context);
}
