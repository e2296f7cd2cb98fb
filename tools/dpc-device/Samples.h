#ifndef DPC_TOOLS_DPC_DEVICE_SAMPLES_H
#define DPC_TOOLS_DPC_DEVICE_SAMPLES_H

#include "planning/Device.h"

#include <string>
#include <vector>

namespace dpc {

/// A kernel that stands for its class.
struct Sample {
  KernelClass kind;
  NumberType type;
  /// The text of an `nn.kernel` or an `nn.update`, in a function of its operands.
  std::string text;
  /// The rows of the table that its integers number; 0 without one.
  int64_t rows = 0;
};

/// The kernels that dpc-device measures: of each class several sizes in f32, in increasing order,
/// and large products in the other types. Kernels that copy in order and kernels that transpose are
/// one class, with equal sizes.
std::vector<Sample> makeSamples();

} // namespace dpc

#endif // DPC_TOOLS_DPC_DEVICE_SAMPLES_H
