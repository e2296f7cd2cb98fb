// Finds products of matrices that a library can compute, and ops that it can apply
// as an epilogue before it stores the product. The epilogue ReLU of the library is
// not used, because it turns NaN into 0.

#include "targets/CUDA/Grids/PlannedProduct.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Shape.h"
#include "targets/CUDA/Grids/GridFill.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

/// Numbers of multiplications. From kLargeProduct on, a library computes the
/// product if it also computes the ops after it. From kVeryLargeProduct on, it
/// computes the product even if these ops need a second launch, which reads the
/// stored product.
static const int64_t kLargeProduct = 1 << 24, kVeryLargeProduct = 1 << 27;

namespace {
/// Matches the second stage of a group with an epilogue of the product in the first
/// stage.
class EpilogueMatch {
public:
  EpilogueMatch(const KernelGraph &graph, const LoopGroup &group, PlannedProduct &product)
      : graph(graph), group(group), product(product), made(group.stages[0].roots[0]->getResult(0)) {
  }

  /// Whether an epilogue of the library computes the complete second stage. If so,
  /// sets the epilogue of `product`.
  bool find() {
    ArrayRef<Operation *> roots = group.stages[1].roots;
    if (roots.size() != 1 || llvm::is_contained(graph.getYielded(), made) || isReadLater())
      return false;
    product.result = roots[0]->getResult(0);
    auto sum = dyn_cast<nn::AddOp>(roots[0]);
    if (!sum)
      return false;
    Value left = inside(sum.getLhs()), right = inside(sum.getRhs());
    if (right == made)
      std::swap(left, right);
    return left == made && right != made && (takeBias(right) || takeMatrix(right));
  }

private:
  /// Whether roots other than the root of the second stage read the product.
  bool isReadLater() const {
    for (Operation *root : graph.getRoots())
      if (root != group.stages[1].roots[0] && graph.getReads(root).contains(made))
        return true;
    return false;
  }

  /// The operand of the inlined reshapes that compute `value`, or `value` itself if
  /// it is no inlined reshape.
  Value inside(Value value) const {
    auto reshape = value.getDefiningOp<nn::ReshapeOp>();
    return reshape && !graph.isMaterialised(value) ? inside(reshape.getInput()) : value;
  }

  /// Matches the broadcast of a vector with one element per column.
  bool takeBias(Value value) {
    auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
    if (!broadcast || graph.isMaterialised(value) || product.factors.elementType.isF64())
      return false;
    // The dimensions of the vector must be the last dimensions, and must have all
    // columns.
    int64_t last = nn::typeOf(value).getRank();
    for (int64_t dimension : llvm::reverse(broadcast.getDimensions()))
      if (dimension != --last)
        return false;
    Value vector = inside(broadcast.getInput());
    if (nn::typeOf(vector).getNumElements() != product.factors.columns || !isStored(vector))
      return false;
    product.epilogue = LibraryProduct::Epilogue::bias;
    product.addend = vector;
    return true;
  }

  bool takeMatrix(Value value) {
    if (!isStored(value))
      return false;
    product.epilogue = LibraryProduct::Epilogue::add;
    product.addend = value;
    return true;
  }

  /// Whether `value` is in memory and has the element type of the product.
  bool isStored(Value value) const {
    return nn::typeOf(value).getElementType() == product.factors.elementType &&
           (isa<BlockArgument>(value) || graph.isMaterialised(value));
  }

  const KernelGraph &graph;
  const LoopGroup &group;
  PlannedProduct &product;
  Value made;
};
} // namespace

std::optional<PlannedProduct> dpc::planProduct(const KernelGraph &graph, const LoopGroup &group,
                                               ProductMaker maker) {
  GridFillOpInterface rule = payingGridFill(group.stages[0].roots[0]);
  std::optional<MatrixFactors> factors = rule ? rule.getFactors() : std::nullopt;
  if (!factors || maker == ProductMaker::generated)
    return std::nullopt;
  for (Value factor : {factors->a.tensor, factors->b.tensor})
    if (!isa<BlockArgument>(factor) && !graph.isMaterialised(factor))
      return std::nullopt;
  PlannedProduct product{*factors, rule->getResult(0)};
  if (group.stages.size() > 1 && !EpilogueMatch(graph, group, product).find())
    product = {*factors, rule->getResult(0), LibraryProduct::Epilogue::none, nullptr,
               /*isWhole=*/false};
  int64_t work = factors->batches * factors->rows * factors->columns * factors->depth;
  if (maker == ProductMaker::bySize && work < (product.isWhole ? kLargeProduct : kVeryLargeProduct))
    return std::nullopt;
  return product;
}
