// Moves the channels of tensors and of elementwise ops after the other dimensions.

#include "dialects/NN/Channels/Channels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#include "dialects/NN/Channels/ChannelsOpInterface.cpp.inc"

SmallVector<int64_t> dpc::orderWithLast(int64_t channels, int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + channels, order.begin() + channels + 1, order.end());
  return order;
}

SmallVector<int64_t> dpc::orderWithoutLast(int64_t channels, int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + channels, order.end() - 1, order.end());
  return order;
}

int64_t dpc::movedDimension(int64_t dimension, int64_t channels, int64_t rank) {
  return dimension == channels ? rank - 1 : dimension > channels ? dimension - 1 : dimension;
}

bool dpc::keepsElements(RankedTensorType type, int64_t channels) {
  return type.getDimSize(channels) == 1 || llvm::all_of(type.getShape().drop_front(channels + 1),
                                                        [](int64_t extent) { return extent == 1; });
}

std::optional<ChannelDims> dpc::findChannels(Operation *op, std::optional<unsigned> operand,
                                             std::optional<unsigned> result, int64_t dimension) {
  if (auto model = dyn_cast<ChannelsOpInterface>(op))
    return model.findChannels(operand, result, dimension);
  if (!isa<ElementwiseOpInterface>(op))
    return std::nullopt;
  ChannelDims dims;
  dims.operands.assign(op->getNumOperands(), dimension);
  dims.results.assign(op->getNumResults(), dimension);
  return dims;
}

SmallVector<Value> dpc::moveChannels(Operation *op, OpBuilder &builder, const ChannelDims &dims,
                                     ValueRange operands) {
  if (auto model = dyn_cast<ChannelsOpInterface>(op))
    return model.moveChannels(builder, dims, operands);
  Operation *moved = builder.clone(*op);
  moved->setOperands(operands);
  for (auto [result, channels] : llvm::zip_equal(moved->getResults(), dims.results)) {
    RankedTensorType type = typeOf(result);
    SmallVector<int64_t> shape;
    for (int64_t dimension : orderWithLast(*channels, type.getRank()))
      shape.push_back(type.getDimSize(static_cast<unsigned>(dimension)));
    result.setType(type.clone(shape));
  }
  return SmallVector<Value>(moved->getResults());
}
