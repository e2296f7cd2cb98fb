#ifndef DPC_RUNTIME_SRC_DEVICE_LAUNCHES_H
#define DPC_RUNTIME_SRC_DEVICE_LAUNCHES_H

#include "dpc/action.h"
#include "dpc/device.h"
#include "runtime/src/device/Queue.h"

#include <vector>

namespace dpc {

/// Address of a launch parameter for the microbatch `micro`. `groupIndex` has, for
/// each group family, the rank's index in its group. `args` are the `args` of the
/// action.
inline DeviceAddress addressOf(const dpc_param_t &param, uint32_t micro,
                               const std::vector<uint32_t> &groupIndex, const void *args) {
  const uint64_t index = param.family == DPC_NONE ? 0 : groupIndex[param.family];
  const uint64_t frame =
      param.frame ? static_cast<const dpc_frame_t *>(args)[param.frame - 1].offset : 0;
  return {param.space,
          frame + param.offset + micro * param.micro_stride + index * param.index_stride};
}

/// The number that a launch of kind FILL writes for the microbatch `micro`.
inline int64_t fillValue(const dpc_launch_t &launch, uint32_t micro) {
  return launch.value + int64_t(micro) * launch.micro_step;
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_LAUNCHES_H
