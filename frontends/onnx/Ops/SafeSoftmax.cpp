// Imports the softmax of attention.

#include "frontends/onnx/Ops/SafeSoftmax.h"

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Model/ExporterMetadata.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

Value dpc::onnx::safeSoftmax(Conversion &c, Value scores, int64_t axis) {
  Value weights = c.e.make<nn::SoftmaxOp>(scores.getType(), scores, axis);
  auto type = RankedTensorType::get(shapeOf(scores), c.builder.getI1Type());
  return c.e.select(c.e.make<nn::IsNanOp>(type, weights), c.e.splatLike(weights, 0), weights);
}

/// If the op that makes `value` multiplies all elements by one number: that number.
static std::optional<double> factorOf(Value value) {
  auto times = value.getDefiningOp<nn::MulOp>();
  if (!times)
    return std::nullopt;
  Value factor = times.getRhs();
  while (auto repeated = factor.getDefiningOp<nn::BroadcastOp>())
    factor = repeated.getInput();
  std::optional<HostTensor> known = evaluate(factor);
  return known && known->isFloat() && known->size() == 1 ? std::optional(known->floats[0])
                                                         : std::nullopt;
}

/// Whether every row of a known mask has an element that does not mask its key.
static bool seesInEachRow(Value mask) {
  while (auto repeated = mask.getDefiningOp<nn::BroadcastOp>())
    mask = repeated.getInput();
  std::optional<HostTensor> known = evaluate(mask);
  if (!known || !known->isFloat() || known->getRank() == 0)
    return false;
  const int64_t extent = known->getShape().back();
  for (int64_t row = 0; row < known->size(); row += extent)
    if (llvm::all_of(llvm::ArrayRef(known->floats).slice(row, extent),
                     [](double each) { return std::isinf(each); }))
      return false;
  return true;
}

bool dpc::onnx::isSafeSoftmax(Conversion &c) {
  for (const Use &use : c.graph().values[c.node.output(0)].uses)
    if (use.operand >= 0 && c.graph().nodes[use.node].is("IsNaN"))
      return false;
  auto masked = c.operand(0).getDefiningOp<nn::AddOp>();
  if (!masked || seesInEachRow(masked.getRhs()))
    return false;
  if (!c.node.metadata(kFxNode).empty())
    return calledBy(c.node) == "aten.scaled_dot_product_attention";
  auto product = masked.getLhs().getDefiningOp<nn::DotOp>();
  if (!product)
    return false;
  std::optional<double> query = factorOf(product.getLhs()), key = factorOf(product.getRhs());
  return query && key && *query == *key;
}
