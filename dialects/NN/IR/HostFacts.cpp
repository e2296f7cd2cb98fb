#include "dialects/NN/IR/HostFacts.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>

using namespace mlir;
using namespace dpc::nn;

IntegerBounds IntegerBounds::intersect(const IntegerBounds &other) const {
  IntegerBounds both = {std::max(low, other.low), std::min(high, other.high),
                        std::nullopt};
  for (const auto &[one, two] :
       {std::make_pair(this, &other), std::make_pair(&other, this)})
    if (one->ignored && two->allows(*one->ignored))
      both.ignored = one->ignored;
  return both;
}

void dpc::nn::setBatchDim(FunctionOpInterface function, unsigned index,
                          int64_t dim) {
  auto type = IntegerType::get(function->getContext(), 64);
  if (dim >= 0)
    function.setResultAttr(index, kBatchDimAttrName,
                           IntegerAttr::get(type, dim));
}

void dpc::nn::setBounds(FunctionOpInterface function, unsigned index,
                        const IntegerBounds &bounds) {
  llvm::SmallVector<int64_t> values = {bounds.low, bounds.high};
  if (bounds.ignored)
    values.push_back(*bounds.ignored);
  function.setArgAttr(index, kBoundsAttrName,
                      DenseI64ArrayAttr::get(function->getContext(), values));
}

std::optional<IntegerBounds> dpc::nn::boundsFrom(Attribute attribute) {
  auto values = llvm::dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (!values || values.size() < 2)
    return std::nullopt;
  IntegerBounds bounds = {values[0], values[1], std::nullopt};
  if (values.size() > 2)
    bounds.ignored = values[2];
  return bounds;
}
