// Classes of kernels, by the work that takes most of their time. A topology file says for each
// class which share of a device's rates it reaches (planning/Topology.h).

#ifndef DPC_PLANNING_KERNELCLASS_H
#define DPC_PLANNING_KERNELCLASS_H

#include "llvm/ADT/StringRef.h"

namespace dpc {

/// If a kernel has ops of several classes that do as much work, it is of the last one in this list.
enum class KernelClass : int {
  copy,          ///< values move, and nothing is computed
  elementwise,   ///< each element of a result needs one element of each operand
  random,        ///< elementwise, and random numbers are drawn
  indexing,      ///< elements are found by indices: gathers, scatters, sorting
  reduction,     ///< sums, maxima and windows of pooling
  normalization, ///< softmax, layer norm, batch norm, cross-entropy
  update,        ///< the optimizer's update of parameters
  convolution,
  attention,
  product
};
constexpr size_t kKernelClasses = size_t(KernelClass::product) + 1;

/// The name of `kind` in topology files, e.g. "product".
llvm::StringRef nameOf(KernelClass kind);

} // namespace dpc

#endif // DPC_PLANNING_KERNELCLASS_H
