// The speed of a device: how long it computes.

#ifndef DPC_PLANNING_DEVICE_H
#define DPC_PLANNING_DEVICE_H

#include "planning/KernelClass.h"

#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dpc {

/// The types of numbers for which devices have different rates. Integers have the rate of f32.
enum class NumberType { f64, f32, tf32, bf16, f16 };
constexpr size_t kNumberTypes = size_t(NumberType::f16) + 1;

/// The name of `type` in topology files, e.g. "bf16".
llvm::StringRef nameOf(NumberType type);
std::optional<NumberType> parseNumberType(llvm::StringRef name);

/// The share of a rate that kernels of one class reach, by their size. It is linear in the
/// logarithm of the size between two points, and constant before the first and after the last.
/// Without points it is 1.
struct Efficiency {
  /// Sizes in increasing order, each with a share above 0.
  std::vector<std::pair<double, double>> points;

  double at(double size) const;

  /// The highest share at the size `larger`, if the share at the size `smaller` is `share`. With a
  /// higher one, a kernel would take less time than a smaller kernel.
  static double highestAfter(double smaller, double share, double larger);
};

/// One device. Numbers of targets may be rough, because decisions only compare times of
/// alternatives. Those of a file are meant to agree with a clock.
struct Device {
  /// The memory of a device in bytes; 0 if it is unknown.
  double memoryBytes = 0;
  double memoryBytesPerSecond = 0;
  /// Floating-point operations in a second, by NumberType; 0 if the device has no rate for a type.
  std::array<double, kNumberTypes> flopsPerSecond = {};
  /// The time from the start of a kernel to its first instruction.
  double launchSeconds = 0;
  /// By KernelClass: the shares of `flopsPerSecond`, by floating-point operations of a kernel, and
  /// of `memoryBytesPerSecond`, by its bytes.
  std::array<Efficiency, kKernelClasses> flopsEfficiency, bytesEfficiency;
  /// A kernel takes this many times as long while the device communicates.
  double slowdownOfCommunication = 1;

  double rateOf(NumberType type) const { return flopsPerSecond[size_t(type)]; }

  /// Fails with one line if a number is impossible. The line names the number.
  llvm::Error check() const;
};

/// The work of a kernel, or of one op.
struct Work {
  double flops = 0;
  /// Bytes of memory that are read and written.
  double bytes = 0;
  KernelClass kind = KernelClass::elementwise;
  NumberType type = NumberType::f32;
  /// Bytes that the program uses from one step to the next; 0 if they are not known. A kernel of a
  /// large program finds its operands as far away as a kernel that has so many bytes itself.
  double footprint = 0;
};

/// Returns the seconds of `work` on `device`, after the launch: the larger one of the times of its
/// operations and of its bytes, as in the roofline model (Williams, Waterman and Patterson,
/// "Roofline: an insightful visual performance model for multicore architectures", 2009), each at
/// the share of the rate that its class reaches. The share of the memory's rate is that of the
/// footprint, if this has more bytes than the kernel. If the device has no rate for the type, the
/// rate of f32 counts.
double workSeconds(const Device &device, const Work &work);

/// Returns the seconds of a kernel that does `work`: its launch and its work.
inline double kernelSeconds(const Device &device, const Work &work) {
  return device.launchSeconds + workSeconds(device, work);
}

} // namespace dpc

#endif // DPC_PLANNING_DEVICE_H
