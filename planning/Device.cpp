// Checks a device, and computes times of kernels on it.

#include "planning/Device.h"

#include "planning/Numbers.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace dpc;

static constexpr llvm::StringLiteral kNumberTypeNames[] = {"f64", "f32", "tf32", "bf16", "f16"};
static_assert(std::size(kNumberTypeNames) == kNumberTypes);

llvm::StringRef dpc::nameOf(NumberType type) { return kNumberTypeNames[size_t(type)]; }

std::optional<NumberType> dpc::parseNumberType(llvm::StringRef name) {
  const auto *found = llvm::find(kNumberTypeNames, name);
  if (found == std::end(kNumberTypeNames))
    return std::nullopt;
  return NumberType(found - std::begin(kNumberTypeNames));
}

double Efficiency::at(double size) const {
  if (points.empty())
    return 1;
  auto above = llvm::upper_bound(
      points, size, [](double value, const auto &point) { return value < point.first; });
  if (above == points.begin())
    return above->second;
  const auto &[left, low] = *std::prev(above);
  if (above == points.end())
    return low;
  const double part = std::log(size / left) / std::log(above->first / left);
  return low + part * (above->second - low);
}

double Efficiency::highestAfter(double smaller, double share, double larger) {
  // The time is size / share. Where the share grows by b per unit of the logarithm of the size, the
  // time grows with the size as long as the share is at least b. The least share is the first one.
  return share * (1 + std::log(larger / smaller));
}

/// Fails if `efficiency`, which belongs to `owner`, has impossible points.
static llvm::Error checkEfficiency(const Efficiency &efficiency, const std::string &owner) {
  // Files have rounded numbers.
  constexpr double kRounding = 1 + 1e-9;
  double last = 0, lastShare = 0;
  for (auto [size, share] : efficiency.points) {
    if (llvm::Error error = checkNumber(owner, "share", share, false))
      return error;
    if (!(size > last) || !std::isfinite(size))
      return planError("{0} has the size {1} after {2}, which must be larger", owner,
                       numberText(size), numberText(last));
    if (last > 0) {
      const double highest = Efficiency::highestAfter(last, lastShare, size);
      if (share > highest * kRounding)
        return planError("{0} has the share {1} at the size {2}, after {3} at {4}: above {5}, "
                         "larger kernels would take less time",
                         owner, numberText(share), numberText(size), numberText(lastShare),
                         numberText(last), numberText(highest));
    }
    last = size;
    lastShare = share;
  }
  return llvm::Error::success();
}

llvm::Error Device::check() const {
  if (llvm::Error error = checkNumber("the device", "memory", memoryBytes, true))
    return error;
  if (llvm::Error error =
          checkNumber("the device", "memory bandwidth", memoryBytesPerSecond, false))
    return error;
  if (llvm::Error error = checkNumber("the device", "launch time", launchSeconds, true))
    return error;
  for (size_t type = 0; type < kNumberTypes; ++type)
    if (llvm::Error error = checkNumber("the device", "rate of " + kNumberTypeNames[type].str(),
                                        flopsPerSecond[type], NumberType(type) != NumberType::f32))
      return error;
  if (!(slowdownOfCommunication >= 1) || !std::isfinite(slowdownOfCommunication))
    return planError("the device has the slow-down of communication {0}, which must be 1 or more, "
                     "and finite",
                     numberText(slowdownOfCommunication));
  for (size_t kind = 0; kind < kKernelClasses; ++kind)
    for (const Efficiency *each : {&flopsEfficiency[kind], &bytesEfficiency[kind]})
      if (llvm::Error error = checkEfficiency(
              *each, ("the efficiency of class " + nameOf(KernelClass(kind))).str()))
        return error;
  return llvm::Error::success();
}

double dpc::workSeconds(const Device &device, const Work &work) {
  double rate = device.rateOf(work.type);
  if (rate == 0)
    rate = device.rateOf(NumberType::f32);
  double flops = 0, bytes = 0;
  if (work.flops > 0)
    flops = work.flops / (rate * device.flopsEfficiency[size_t(work.kind)].at(work.flops));
  if (work.bytes > 0)
    bytes = work.bytes /
            (device.memoryBytesPerSecond *
             device.bytesEfficiency[size_t(work.kind)].at(std::max(work.bytes, work.footprint)));
  return std::max(flops, bytes);
}
