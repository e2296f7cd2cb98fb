// Finds the products of matrices that a library can compute. Also finds the addition
// that the library can make before it stores the product (the epilogue). The library's
// ReLU is not used, because it turns NaN into 0 and so hides errors.

#include "dpc/product.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Shape.h"
#include "dpc/calls.h"
#include "targets/CUDA/Calls/Calls.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

namespace {
/// A product, and the values of the kernel in its buffers. `addend` is the matrix or
/// vector of the epilogue; null without an epilogue.
struct ProductPlan {
  dpc_product_t product = {};
  Value a, b, result, addend;
};

/// Finds the op of the second stage of a group of loops that can be the epilogue of the product in
/// the first stage. The op must add a bias or a matrix to the product, and no other op or result of
/// the kernel may need the product. If the product has 16-bit elements, the op may also widen the
/// product and a 16-bit addend, and round the sum. The library then adds before it rounds, and so
/// rounds once less. Other ops of the second stage may read the stored sum.
class EpilogueMatch {
public:
  EpilogueMatch(const KernelGraph &graph, const LoopGroup &group, ProductPlan &plan)
      : graph(graph), group(group), plan(plan), made(group.stages[0].roots[0]->getResult(0)) {}

  /// Returns an op that an epilogue of the library computes, and sets the epilogue, the addend and
  /// the result of `plan`. Returns null if there is none.
  Operation *find() {
    if (group.stages.size() < 2 || llvm::is_contained(graph.getYielded(), made))
      return nullptr;
    for (Operation *root : group.stages[1].roots)
      if (!isReadBeside(root) && isEpilogue(root))
        return root;
    return nullptr;
  }

private:
  /// Whether a library's epilogue computes `root`. If so, sets it in `plan`.
  bool isEpilogue(Operation *root) {
    auto rounding = dyn_cast<nn::ConvertOp>(root);
    isRounded = rounding && elementOf(rounding) == elementOf(made) &&
                !graph.isMaterialised(rounding.getInput());
    auto sum =
        isRounded ? rounding.getInput().getDefiningOp<nn::AddOp>() : dyn_cast<nn::AddOp>(root);
    if (!sum)
      return false;
    Value left = unwidened(inside(sum.getLhs())), right = unwidened(inside(sum.getRhs()));
    if (right == made)
      std::swap(left, right);
    if (left != made || right == made || !(takeBias(right) || takeMatrix(right)))
      return false;
    plan.result = root->getResult(0);
    return true;
  }

  /// Whether another root than `only` reads the product. The product must then be stored, so it
  /// cannot be replaced by the sum.
  bool isReadBeside(Operation *only) const {
    return llvm::any_of(graph.getRoots(), [&](Operation *root) {
      return root != only && graph.getReads(root).contains(made);
    });
  }

  /// Looks through inlined reshapes. If a chain of them computes `value`, returns the
  /// operand of the reshape that runs first. If not, returns `value`.
  Value inside(Value value) const {
    auto reshape = value.getDefiningOp<nn::ReshapeOp>();
    return reshape && !graph.isMaterialised(value) ? inside(reshape.getInput()) : value;
  }

  static Type elementOf(Value value) { return nn::typeOf(value).getElementType(); }

  /// If the sum is rounded and `value` widens an element of the product's type, returns the
  /// element. If not, returns `value`.
  Value unwidened(Value value) const {
    auto widening = value.getDefiningOp<nn::ConvertOp>();
    return isRounded && widening && !graph.isMaterialised(value) &&
                   elementOf(widening.getInput()) == elementOf(made)
               ? inside(widening.getInput())
               : value;
  }

  /// Takes `value` as the addend if it broadcasts a vector with one element per column,
  /// and if the product is not one of f64.
  bool takeBias(Value value) {
    value = unwidened(value);
    auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
    if (!broadcast || graph.isMaterialised(value) || plan.product.dtype == DPC_F64)
      return false;
    // The vector's dimensions must be the last ones and cover all columns.
    int64_t last = nn::typeOf(value).getRank();
    for (int64_t dimension : llvm::reverse(broadcast.getDimensions()))
      if (dimension != --last)
        return false;
    Value vector = inside(broadcast.getInput());
    if (static_cast<uint64_t>(nn::typeOf(vector).getNumElements()) != plan.product.columns)
      return false;
    return take(vector, DPC_EPILOGUE_BIAS);
  }

  /// Takes `value` as the addend, a matrix with the shape of the product.
  bool takeMatrix(Value value) { return take(value, DPC_EPILOGUE_ADD); }

  /// Takes `value` as the addend of the kind `epilogue` (DPC_EPILOGUE_*), if it is in
  /// memory and has the element type of the product's result. Returns whether it has done so.
  bool take(Value value, uint32_t epilogue) {
    if (dtypeOf(nn::typeOf(value).getElementType()) != plan.product.result_dtype ||
        (!isa<BlockArgument>(value) && !graph.isMaterialised(value)))
      return false;
    plan.product.epilogue = epilogue;
    plan.addend = value;
    return true;
  }

  const KernelGraph &graph;
  const LoopGroup &group;
  ProductPlan &plan;
  Value made;
  bool isRounded = false; ///< the sum is rounded to the type of the product
};
} // namespace

/// Describes a dense, row-major tensor as one matrix per batch element. `batch` has the
/// dimensions that together are the batch; `rows` and `columns` have those along the rows
/// and the columns of a matrix. Returns nullopt if the dimensions of one of these
/// lists cannot be treated as one dimension, or if neither the rows nor the columns of the
/// matrices are contiguous.
static std::optional<dpc_matrix_t> matrixOf(Value tensor, ArrayRef<int64_t> batch,
                                            ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  std::optional<int64_t> rowStride = nn::strideAlong(tensor, rows),
                         columnStride = nn::strideAlong(tensor, columns),
                         batchStride = nn::strideAlong(tensor, batch);
  if (!rowStride || !columnStride || !batchStride)
    return std::nullopt;
  dpc_matrix_t matrix = {};
  matrix.batch_stride = nn::countAlong(tensor, batch) > 1 ? static_cast<uint64_t>(*batchStride) : 0;
  if (*columnStride == 1 && *rowStride >= nn::countAlong(tensor, columns)) {
    matrix.stride = static_cast<uint64_t>(*rowStride);
    return matrix;
  }
  if (*rowStride == 1 && *columnStride >= nn::countAlong(tensor, rows)) {
    matrix.stride = static_cast<uint64_t>(*columnStride);
    matrix.transposed = 1;
    return matrix;
  }
  return std::nullopt;
}

/// Describes the product that an nn.dot computes, without an epilogue. Returns nullopt if
/// an operand cannot be described as matrices, or if the library does not support the
/// product.
static std::optional<ProductPlan> planFactors(nn::DotOp dot, FactorForm factors) {
  const SmallVector<int64_t> rows = dot.getLhsFree(), columns = dot.getRhsFree();
  std::optional<dpc_matrix_t> a = matrixOf(dot.getLhs(), dot.getLhsBatch(), rows,
                                           dot.getLhsContract()),
                              b = matrixOf(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract(),
                                           columns);
  if (!a || !b)
    return std::nullopt;
  ProductPlan plan;
  dpc_product_t &product = plan.product;
  product.dtype = dtypeOf(nn::typeOf(dot.getLhs()).getElementType());
  product.result_dtype = dtypeOf(nn::typeOf(dot.getResult()).getElementType());
  // cuBLASLt has a type of computation with rounded factors, but none with split ones. Kernels use
  // the fast units for them, and the library would not.
  if (factors == FactorForm::split && product.dtype == DPC_F32)
    return std::nullopt;
  product.tf32 = factors == FactorForm::rounded && product.dtype == DPC_F32;
  product.batches = static_cast<uint64_t>(nn::countAlong(dot.getLhs(), dot.getLhsBatch()));
  product.rows = static_cast<uint64_t>(nn::countAlong(dot.getLhs(), rows));
  product.columns = static_cast<uint64_t>(nn::countAlong(dot.getRhs(), columns));
  product.depth = static_cast<uint64_t>(nn::countAlong(dot.getLhs(), dot.getLhsContract()));
  product.a = *a;
  product.b = *b;
  product.d.stride = product.columns;
  product.d.batch_stride = product.batches > 1 ? product.rows * product.columns : 0;
  plan.a = dot.getLhs();
  plan.b = dot.getRhs();
  plan.result = dot.getResult();
  return dpc_product_is_valid(&product) ? std::optional(plan) : std::nullopt;
}

/// The size in bytes of the library's workspace for a product with the result `result`.
/// Large results get kMostBytes, which NVIDIA recommends for Hopper. Small results get
/// less: the library stores up to kParts partial sums per element there, and could not
/// use more. kAlignment bytes are added, because the library aligns the address.
static int64_t workspaceBytes(Value result) {
  const int64_t kMostBytes = int64_t(32) << 20, kParts = 8, kAlignment = 256;
  return std::min(kMostBytes, kParts * tensorBytes(result.getType())) + kAlignment;
}

/// The number of multiplications of a product.
static uint64_t countMultiplications(nn::DotOp dot) {
  return static_cast<uint64_t>(nn::typeOf(dot.getResult()).getNumElements()) *
         static_cast<uint64_t>(nn::countAlong(dot.getLhs(), dot.getLhsContract()));
}

/// Whether `dot` is large enough for a library, or `options` want one for every product.
static bool isLarge(nn::DotOp dot, const CallOptions &options) {
  return options.products == ProductMaker::library ||
         countMultiplications(dot) >= static_cast<uint64_t>(kLargeCall);
}

int64_t dpc::alignmentOfProduct(nn::DotOp dot, const CallOptions &options) {
  const int64_t kPieceBytes = 16;
  const Type factors = nn::typeOf(dot.getLhs()).getElementType();
  if (factors.getIntOrFloatBitWidth() > 32 || !isa<FloatType>(factors) || !isLarge(dot, options))
    return 1;
  return kPieceBytes * 8 / factors.getIntOrFloatBitWidth();
}

LibraryWork dpc::findWorkOfProduct(Operation *op, const CallOptions &options) {
  auto dot = dyn_cast<nn::DotOp>(op);
  const bool isCalled = dot &&
                        wantsLibrary(options, countMultiplications(dot), /*isComplete=*/false) &&
                        planFactors(dot, options.factors);
  return isCalled ? LibraryWork::addition : LibraryWork::none;
}

bool dpc::wantsNarrowAddend(nn::DotOp dot, const CallOptions &options) {
  const Type type = nn::typeOf(dot.getResult()).getElementType();
  return (type.isBF16() || type.isF16()) && options.products != ProductMaker::generated &&
         isLarge(dot, options);
}

/// Plans a library call for the product in the first stage of `group`. Returns nullopt if
/// the first stage is not a product that the library supports, if a factor is not in
/// memory, or if `options.products` wants generated code for a product of this size. If the library
/// has no epilogue for all ops after the product, a second launch computes the others.
/// ProductMaker::bySize allows this second launch only for very large products.
std::optional<PlannedCall> dpc::planProduct(const KernelGraph &graph, const LoopGroup &group,
                                            const CallOptions &options) {
  auto dot = dyn_cast<nn::DotOp>(group.stages[0].roots[0]);
  if (!dot || options.products == ProductMaker::generated)
    return std::nullopt;
  std::optional<ProductPlan> plan = planFactors(dot, options.factors);
  if (!plan)
    return std::nullopt;
  for (Value factor : {plan->a, plan->b})
    if (!isa<BlockArgument>(factor) && !graph.isMaterialised(factor))
      return std::nullopt;
  PlannedCall call;
  call.epilogue = EpilogueMatch(graph, group, *plan).find();
  const size_t opCount = group.getRoots().size();
  call.isComplete = opCount == (call.epilogue ? 2 : 1);
  const dpc_product_t &product = plan->product;
  if (!wantsLibrary(options, countMultiplications(dot), call.isComplete))
    return std::nullopt;
  call.kind = DPC_CALL_PRODUCT;
  call.description = std::string(reinterpret_cast<const char *>(&product), sizeof product);
  call.buffers = {plan->a, plan->b, plan->result, /*workspace=*/nullptr};
  if (plan->addend)
    call.buffers.push_back(plan->addend);
  call.workspaceBytes = workspaceBytes(plan->result);
  call.result = plan->result;
  return call;
}
