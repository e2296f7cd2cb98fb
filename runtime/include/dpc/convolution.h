/* Convolutions, a kind of library call (calls.h). */
#ifndef DPC_CONVOLUTION_H
#define DPC_CONVOLUTION_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The buffers of a convolution, in the order of the call's buffers. The first three are the
 * tensors of y = conv(x, w). */
enum {
  DPC_CONVOLUTION_X = 0, /**< the input: [batch, channels, spatial..] */
  DPC_CONVOLUTION_W = 1, /**< the kernel: [channels of y, channels of x in a group, spatial..] */
  DPC_CONVOLUTION_Y = 2, /**< the output: [batch, channels, spatial..] */
  DPC_CONVOLUTION_WORKSPACE = 3, /**< scratch memory of the library, of any size */
  DPC_CONVOLUTION_BUFFERS = 4
};

enum {
  DPC_CONVOLUTION_MOST_SPATIAL = 3, /**< most spatial dimensions */
  DPC_CONVOLUTION_MOST_RANK = DPC_CONVOLUTION_MOST_SPATIAL + 2
};

/** Shape and layout in memory of a tensor of a convolution, `spatial` + 2 dimensions in the order
 * batch (or channels of y), channels, spatial. The order in memory follows from the strides. */
typedef struct dpc_convolution_tensor_t {
  uint64_t extents[DPC_CONVOLUTION_MOST_RANK];
  uint64_t strides[DPC_CONVOLUTION_MOST_RANK]; /**< in elements */
} dpc_convolution_tensor_t;

/** A convolution y = conv(x, w), or the gradient of x or of w. Each output element is the sum of
 * w[k] x[o * stride + k * dilation - pad_low] over the channels of a group and over the elements k
 * of the kernel. Elements in the padding are 0. cuDNN can compute it. */
typedef struct dpc_convolution_t {
  uint32_t result;  /**< the tensor that is computed from the other two: DPC_CONVOLUTION_Y;
                        DPC_CONVOLUTION_X for its gradient, from that of y;
                        DPC_CONVOLUTION_W for its gradient, from that of y */
  uint32_t dtype;   /**< type of all elements: DPC_F64, DPC_F32, DPC_F16 or DPC_BF16; sums of 16-bit
                        floats are accumulated in f32 */
  uint32_t tf32;    /**< 1: factors of type f32 may be rounded to tf32; else 0 */
  uint32_t spatial; /**< spatial dimensions: 2 or 3 */
  uint64_t groups;
  uint64_t strides[DPC_CONVOLUTION_MOST_SPATIAL];
  uint64_t dilations[DPC_CONVOLUTION_MOST_SPATIAL];
  uint64_t pad_low[DPC_CONVOLUTION_MOST_SPATIAL];
  uint64_t pad_high[DPC_CONVOLUTION_MOST_SPATIAL];
  dpc_convolution_tensor_t x, w, y;
} dpc_convolution_t;

/** Bytes of an element of type `dtype`; 0 if no library convolves tensors of this element type. */
static inline uint64_t dpc_convolution_type_bytes(uint32_t dtype) {
  switch (dtype) {
  case DPC_F64:
    return 8;
  case DPC_F32:
    return 4;
  case DPC_F16:
  case DPC_BF16:
    return 2;
  default:
    return 0;
  }
}

/** Whether a library convolves tensors of this element type, with the rounding that `tf32`
 * requests. */
static inline int dpc_convolution_has_type(const dpc_convolution_t *convolution) {
  return dpc_convolution_type_bytes(convolution->dtype) != 0 &&
         (convolution->tf32 == 0 || (convolution->tf32 == 1 && convolution->dtype == DPC_F32));
}

/** The tensor in the buffer with the number `buffer` (DPC_CONVOLUTION_*, but not the
 * workspace). */
static inline const dpc_convolution_tensor_t *
dpc_convolution_tensor(const dpc_convolution_t *convolution, uint32_t buffer) {
  return buffer == DPC_CONVOLUTION_X   ? &convolution->x
         : buffer == DPC_CONVOLUTION_W ? &convolution->w
                                       : &convolution->y;
}

/** Whether the shapes of x, w and y belong together, and all numbers are in the range that
 * libraries support, 1 to INT32_MAX (paddings also 0). `spatial` must be 2 or 3. */
static inline int dpc_convolution_has_shapes(const dpc_convolution_t *convolution) {
  const uint64_t most = INT32_MAX;
  const uint64_t *x = convolution->x.extents, *w = convolution->w.extents,
                 *y = convolution->y.extents;
  for (uint32_t i = 0; i < convolution->spatial + 2; ++i)
    if (x[i] < 1 || x[i] > most || w[i] < 1 || w[i] > most || y[i] < 1 || y[i] > most)
      return 0;
  if (convolution->groups < 1 || convolution->groups > most || x[0] != y[0] || y[1] != w[0] ||
      x[1] != w[1] * convolution->groups || w[0] % convolution->groups != 0)
    return 0;
  for (uint32_t i = 0; i < convolution->spatial; ++i) {
    const uint64_t stride = convolution->strides[i], dilation = convolution->dilations[i],
                   low = convolution->pad_low[i], high = convolution->pad_high[i];
    if (stride < 1 || stride > most || dilation < 1 || dilation > most || low > most || high > most)
      return 0;
    const uint64_t padded = x[i + 2] + low + high, reach = (w[i + 2] - 1) * dilation + 1;
    if (padded < reach || y[i + 2] != (padded - reach) / stride + 1)
      return 0;
  }
  return 1;
}

/** Whether all fields except the strides in memory are valid. To check these, test that
 * dpc_convolution_buffer_bytes of the buffer is not UINT64_MAX. */
static inline int dpc_convolution_is_valid(const dpc_convolution_t *convolution) {
  return dpc_convolution_has_type(convolution) && convolution->result < DPC_CONVOLUTION_WORKSPACE &&
         convolution->spatial >= 2 && convolution->spatial <= DPC_CONVOLUTION_MOST_SPATIAL &&
         dpc_convolution_has_shapes(convolution);
}

/** The least size in bytes of the buffer with the number `buffer` (DPC_CONVOLUTION_*). UINT64_MAX
 * if two elements of its tensor have one place, or if the tensor is larger than any memory.
 * dpc_convolution_is_valid must hold. */
static inline uint64_t dpc_convolution_buffer_bytes(const dpc_convolution_t *convolution,
                                                    uint32_t buffer) {
  /* Each of the at most five terms of `last` is limited to 2^58. Times 8 bytes, the largest
   * element, the sum is then less than 2^64. */
  const uint64_t most = UINT64_MAX >> 6;
  uint64_t last = 0;
  if (buffer == DPC_CONVOLUTION_WORKSPACE)
    return 0;
  const dpc_convolution_tensor_t *tensor = dpc_convolution_tensor(convolution, buffer);
  const uint32_t rank = convolution->spatial + 2;
  for (uint32_t i = 0; i < rank; ++i) {
    if (tensor->extents[i] > 1 && tensor->strides[i] > most / tensor->extents[i])
      return UINT64_MAX;
    if (tensor->extents[i] > 1)
      last += (tensor->extents[i] - 1) * tensor->strides[i];
  }
  for (uint32_t i = 0; i < rank; ++i) {
    /* The distance between neighbours must exceed the reach of all denser dimensions. */
    uint64_t reach = 0;
    for (uint32_t j = 0; j < rank; ++j)
      if (j != i && tensor->extents[j] > 1 && tensor->strides[j] <= tensor->strides[i])
        reach += (tensor->extents[j] - 1) * tensor->strides[j];
    if (tensor->extents[i] > 1 && tensor->strides[i] <= reach)
      return UINT64_MAX;
  }
  return (last + 1) * dpc_convolution_type_bytes(convolution->dtype);
}

/** Bytes of workspace that suffice for the plans that cuDNN expects to be fast. Engines for 16 bits
 * and tf32 read channels-last tensors with channels in pieces of 16 bytes. The other ones read
 * tensors with channels before the spatial dimensions. The library copies tensors in another order
 * to the workspace. There are also partial sums, which it adds up at the end. CudnnPlansTest
 * compares the number with plans of the library. */
static inline uint64_t dpc_convolution_workspace_bytes(const dpc_convolution_t *convolution) {
  const uint64_t most_sums = (uint64_t)32 << 20, parts = 128, alignment = 256;
  const uint64_t bytes = dpc_convolution_type_bytes(convolution->dtype);
  const int is_narrow = bytes == 2 || convolution->tf32;
  const uint64_t piece = is_narrow ? 16 / bytes : 1, rank = convolution->spatial + 2;
  uint64_t copies = 0, sums = 0;
  for (uint32_t buffer = 0; buffer < DPC_CONVOLUTION_WORKSPACE; ++buffer) {
    const dpc_convolution_tensor_t *tensor = dpc_convolution_tensor(convolution, buffer);
    const uint64_t channels = tensor->extents[1], padded = (channels + piece - 1) / piece * piece;
    const int is_channels_last = tensor->strides[1] == 1;
    uint64_t points = tensor->extents[0];
    for (uint64_t i = 2; i < rank; ++i)
      points *= tensor->extents[i];
    if (buffer == convolution->result)
      sums = points * padded * (bytes > 4 ? bytes : 4) * parts;
    if (is_channels_last != is_narrow || channels != padded)
      copies += points * padded * bytes + alignment;
  }
  return copies + (sums < most_sums ? sums : most_sums) + alignment;
}

#ifdef __cplusplus
}
#endif
#endif /* DPC_CONVOLUTION_H */
