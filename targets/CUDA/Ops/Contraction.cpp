// Grid fill rule of nn.dot: computes the product in tiles.

#include "dialects/NN/IR/Contraction.h"
#include "targets/CUDA/Ops/BlockProduct.h"
#include "targets/CUDA/Ops/Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

namespace {

/// Computes one matrix product per batch element. Several dimensions of rows are treated
/// as one dimension; so are several of columns, and several contracted dimensions.
struct DotGridFill : GridFillOpInterface::ExternalModel<DotGridFill, DotOp> {
  /// The number of elements along `dimensions` that are neighbours in memory; 0 if single
  /// elements are.
  static int64_t runOf(Value tensor, ArrayRef<int64_t> dimensions) {
    const RankedTensorType type = typeOf(tensor);
    return !dimensions.empty() && dimensions.back() == type.getRank() - 1 ? type.getShape().back()
                                                                          : 0;
  }
  static bool isInner(Value tensor, ArrayRef<int64_t> dimensions) {
    return llvm::is_contained(dimensions, typeOf(tensor).getRank() - 1);
  }
  static BlockProduct productOf(DotOp op) {
    return {{typeOf(op.getLhs()).getElementType(), typeOf(op.getResult()).getElementType()},
            countAlong(op.getLhs(), op.getLhsBatch()),
            countAlong(op.getLhs(), op.getLhsFree()),
            countAlong(op.getRhs(), op.getRhsFree()),
            countAlong(op.getLhs(), op.getLhsContract()),
            isInner(op.getLhs(), op.getLhsContract()),
            isInner(op.getRhs(), op.getRhsContract()),
            std::max(runOf(op.getLhs(), op.getLhsContract()), runOf(op.getLhs(), op.getLhsFree())),
            std::max(runOf(op.getRhs(), op.getRhsContract()), runOf(op.getRhs(), op.getRhsFree()))};
  }

  bool pays(Operation *self) const { return productOf(cast<DotOp>(self)).pays(); }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    return productOf(cast<DotOp>(self)).getGrids(options);
  }
  int64_t countFinalElements(Operation *self, LaunchPhase phase) const {
    return productOf(cast<DotOp>(self)).countFinalElements(phase);
  }
  // The second launch reads only the partial sums of the first launch.
  bool readsOperands(Operation *, LaunchPhase phase) const { return phase.number == 0; }
  int64_t getScratchBytes(Operation *self) const {
    return productOf(cast<DotOp>(self)).getScratchBytes();
  }

  void emitTiles(Operation *self, GridEmitter &e, LaunchPhase phase, FinishTile finish) const {
    auto op = cast<DotOp>(self);
    BlockProduct product = productOf(op);
    /// The index of an element of a factor. `places` has three groups of the factor's
    /// dimensions, each treated as one dimension, and the position along each
    /// group.
    auto element = [&](Value tensor, ArrayRef<std::pair<ArrayRef<int64_t>, Index>> places) {
      SmallVector<Index> positions(typeOf(tensor).getRank());
      for (auto [dimensions, number] : places)
        for (auto [d, position] :
             llvm::zip_equal(dimensions, e.delinearize(number, extentsOf(tensor, dimensions))))
          positions[d] = position;
      return FactorElement{tensor, ElementIndex(e, typeOf(tensor).getShape(), positions), Value()};
    };
    SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
    product.emit(
        e, phase,
        [&](Index batch, Index row, Index k) {
          return element(op.getLhs(),
                         {{op.getLhsBatch(), batch}, {lhsFree, row}, {op.getLhsContract(), k}});
        },
        [&](Index batch, Index column, Index k) {
          return element(op.getRhs(),
                         {{op.getRhsBatch(), batch}, {rhsFree, column}, {op.getRhsContract(), k}});
        },
        [&](Index batch, Index row, Index column, ValueRange elements) {
          SmallVector<Index> numbers;
          for (int64_t n = 0; n < static_cast<int64_t>(elements.size()); ++n)
            numbers.push_back((batch * product.rows + row) * product.columns + column + n);
          e.storeFinal(op.getResult(), elements, numbers, finish);
        });
  }
};

} // namespace

void dpc::attachContractionGridFills(MLIRContext &context) {
  DotOp::attachInterface<DotGridFill>(context);
}
