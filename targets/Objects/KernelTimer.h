// Runs compiled kernels of this host in this process, and measures how long they take.

#ifndef DPC_TARGETS_OBJECTS_KERNELTIMER_H
#define DPC_TARGETS_OBJECTS_KERNELTIMER_H

#include "targets/Target.h"

#include "mlir/IR/Types.h"

namespace dpc {

/// The buffers of a kernel, in the order of its arguments (Target::emitKernel).
struct TimedKernel {
  const KernelObject *object = nullptr;
  /// The types of elements and the numbers of elements of operands and results.
  std::vector<std::pair<mlir::Type, int64_t>> buffers;
  int64_t scratchBytes = 0;
  /// By buffer: its integers are random numbers below this limit. Buffers without one have zeros.
  std::vector<int64_t> limits;
};

/// Measures each of `kernels`: returns the seconds of one call, in their order. `threads` threads
/// call the kernel at the same time, each on buffers of its own, as the ranks of a host do.
/// Floating-point operands are numbers from 1/2 to 3/2. Before each call, a thread reads
/// as many bytes as twice its second-level cache has, because in a step the operands of a kernel
/// have usually left it. The result is the mean of the threads' median times: the least time is
/// rarer than a step of many kernels can repeat. All kernels are measured `rounds` times in turn,
/// since a shared host may be slow for some seconds, and the least result of a kernel counts. Fails
/// with one line if a kernel cannot be loaded.
llvm::Expected<std::vector<double>> timeKernels(llvm::ArrayRef<TimedKernel> kernels,
                                                unsigned threads, unsigned rounds);

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_KERNELTIMER_H
