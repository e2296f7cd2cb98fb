#ifndef DPC_TEST_CUDA_EMULATOR_CUDNN_CONVOLUTION_H
#define DPC_TEST_CUDA_EMULATOR_CUDNN_CONVOLUTION_H

#include "test/cuda_emulator/cudnn/Descriptor.h"

#include <string>

namespace dpc::emulator {

/// A tensor of a graph. Two spatial dimensions are three, of which the first has the extent 1.
struct DnnTensor {
  int64_t id = 0;
  cuda::DnnDataType type = cuda::DnnDataType::f32;
  int64_t alignment = 1;
  int64_t extents[5] = {1, 1, 1, 1, 1}, strides[5] = {};

  int64_t elements() const;
  /// Bytes from the first element to the end of the last one.
  uint64_t reach() const;
  int64_t offset(const int64_t (&index)[5]) const;
};

/// The numbers of the tensors of a convolution.
enum { kDnnX = 0, kDnnW = 1, kDnnY = 2, kDnnTensors = 3 };

/// An operation of a graph: y = conv(x, w), or the gradient of x or of w. Without pointers, so that
/// its bytes can be the text of a plan.
struct DnnConvolution {
  int32_t result = kDnnY; // the tensor that is computed
  cuda::DnnDataType compute = cuda::DnnDataType::f32;
  int64_t strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1};
  int64_t padLow[3] = {}, padHigh[3] = {};
  DnnTensor tensors[kDnnTensors];

  int64_t groups() const { return tensors[kDnnX].extents[1] / tensors[kDnnW].extents[1]; }
};

unsigned bytesOf(cuda::DnnDataType type);

/// Reads a finalized operation. Returns what NVIDIA's documentation refuses in it; success if it
/// is sound. `why` tells the reason.
cuda::DnnStatus readOperation(const DnnState &operation, DnnConvolution &out, std::string &why);
/// The same for a tensor, and for the geometry of a convolution.
cuda::DnnStatus readTensor(const DnnState &state, DnnTensor &out, std::string &why);
cuda::DnnStatus readGeometry(const DnnState &state, DnnConvolution &out, std::string &why);

/// What an engine computes in another way than the others.
struct DnnRounding {
  bool toTf32 = false; ///< factors of f32 are rounded to tf32
  bool toBf16 = false; ///< partial sums are rounded to bf16
  double noise = 0;    ///< what is added to sums, as the order of atomic additions does
};

/// Computes a convolution. `data` has the tensors where the host reaches them. Sums are f64,
/// rounded once.
void compute(const DnnConvolution &convolution, char *const (&data)[kDnnTensors],
             const DnnRounding &rounding);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_CUDNN_CONVOLUTION_H
