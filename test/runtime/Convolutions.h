#ifndef DPC_TEST_RUNTIME_CONVOLUTIONS_H
#define DPC_TEST_RUNTIME_CONVOLUTIONS_H

#include "dpc/convolution.h"

#include <cstdint>

namespace dpc::test {

/// The shapes of a convolution over two dimensions with square kernels.
struct Shape {
  uint64_t batch, channels, size, outputs, kernel, stride, groups = 1, dilation = 1;
};

/// Sets the strides of a dense tensor: rows of channels innermost if `isChannelsLast`, else
/// dimensions in their order.
inline void layOut(dpc_convolution_tensor_t &tensor, bool isChannelsLast) {
  const uint64_t *extents = tensor.extents;
  if (isChannelsLast) {
    tensor.strides[1] = 1;
    tensor.strides[3] = extents[1];
    tensor.strides[2] = extents[3] * tensor.strides[3];
    tensor.strides[0] = extents[2] * tensor.strides[2];
  } else {
    tensor.strides[3] = 1;
    tensor.strides[2] = extents[3];
    tensor.strides[1] = extents[2] * tensor.strides[2];
    tensor.strides[0] = extents[1] * tensor.strides[1];
  }
}

/// A convolution with half of the kernel as padding, which computes `result`
/// (DPC_CONVOLUTION_*).
inline dpc_convolution_t makeConvolution(uint32_t result, uint32_t dtype, const Shape &shape,
                                         bool isChannelsLast = false) {
  dpc_convolution_t made = {};
  made.result = result;
  made.dtype = dtype;
  made.spatial = 2;
  made.groups = shape.groups;
  const uint64_t reach = (shape.kernel - 1) * shape.dilation + 1, padding = reach / 2,
                 size = (shape.size + 2 * padding - reach) / shape.stride + 1;
  made.x.extents[0] = made.y.extents[0] = shape.batch;
  made.x.extents[1] = shape.channels;
  made.w.extents[0] = made.y.extents[1] = shape.outputs;
  made.w.extents[1] = shape.channels / shape.groups;
  for (int i = 0; i < 2; ++i) {
    made.strides[i] = shape.stride;
    made.dilations[i] = shape.dilation;
    made.pad_low[i] = made.pad_high[i] = padding;
    made.x.extents[i + 2] = shape.size;
    made.w.extents[i + 2] = shape.kernel;
    made.y.extents[i + 2] = size;
  }
  for (dpc_convolution_tensor_t *tensor : {&made.x, &made.w, &made.y})
    layOut(*tensor, isChannelsLast);
  return made;
}

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_CONVOLUTIONS_H
