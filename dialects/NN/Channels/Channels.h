#ifndef DPC_DIALECTS_NN_CHANNELS_CHANNELS_H
#define DPC_DIALECTS_NN_CHANNELS_CHANNELS_H

#include "dialects/NN/IR/NNDialect.h"

#include <optional>

namespace dpc {

/// The dimension of channels of each operand and result of an op that moves it after the other
/// dimensions. Values without such a dimension keep their order.
struct ChannelDims {
  llvm::SmallVector<std::optional<int64_t>> operands, results;
};

/// The permutation (nn.transpose) that moves dimension `channels` of a tensor of rank `rank` after
/// the other dimensions.
llvm::SmallVector<int64_t> orderWithLast(int64_t channels, int64_t rank);
/// The permutation that undoes orderWithLast.
llvm::SmallVector<int64_t> orderWithoutLast(int64_t channels, int64_t rank);
/// The number of dimension `dimension` after orderWithLast.
int64_t movedDimension(int64_t dimension, int64_t channels, int64_t rank);

/// Whether the elements of a tensor of type `type` keep their order in memory if dimension
/// `channels` becomes the last one.
bool keepsElements(mlir::RankedTensorType type, int64_t channels);

/// Finds the channels of an elementwise op or of an op with ChannelsOpInterface, as
/// ChannelsOpInterface describes.
std::optional<ChannelDims> findChannels(mlir::Operation *op, std::optional<unsigned> operand,
                                        std::optional<unsigned> result, int64_t dimension);
/// Builds the op that ChannelsOpInterface::moveChannels describes.
llvm::SmallVector<mlir::Value> moveChannels(mlir::Operation *op, mlir::OpBuilder &builder,
                                            const ChannelDims &dims, mlir::ValueRange operands);

/// Attaches ChannelsOpInterface to nn ops.
void registerChannelsModels(mlir::DialectRegistry &registry);

} // namespace dpc

#include "dialects/NN/Channels/ChannelsOpInterface.h.inc"

#endif // DPC_DIALECTS_NN_CHANNELS_CHANNELS_H
