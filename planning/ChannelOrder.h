#ifndef DPC_PLANNING_CHANNELORDER_H
#define DPC_PLANNING_CHANNELORDER_H

namespace dpc {

/// The order of the tensors of a convolution.
enum class ChannelOrder {
  second, ///< [batch, channels, spatial..]
  last,   ///< [batch, spatial.., channels]
  any     ///< both are as good
};

} // namespace dpc

#endif // DPC_PLANNING_CHANNELORDER_H
