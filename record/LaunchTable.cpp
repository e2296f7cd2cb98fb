// Writes a program's functions for a device as lists of launches: kernels,
// copies and microbatch numbers, each with the places of its buffers.

#include "record/LaunchTable.h"

#include "dpc/device.h"
#include "record/Functions.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

uint32_t LaunchTable::getKernel(StringRef name) {
  auto [entry, isNew] = kernelIndex.try_emplace(name, kernelIndex.size());
  if (isNew) {
    uint64_t at = kernels.append(dpc_kernel_t{});
    kernels.setPointer(at + offsetof(dpc_kernel_t, name), pool.getString(name));
    kernels.setPointer(at + offsetof(dpc_kernel_t, code), declareKernel(target, name));
  }
  return entry->second;
}

void LaunchTable::addLaunch(uint32_t kind, ValueRange buffers, uint32_t kernel) {
  dpc_launch_t launch = {};
  launch.kind = kind;
  launch.kernel = kernel;
  launch.first_param = paramCount;
  launch.param_count = buffers.size();
  if (kind == DPC_LAUNCH_FILL)
    launch.micro_step = 1;
  launches.append(launch);
  ++launchCount;
  for (Value buffer : buffers) {
    Place place = placeOf(buffer);
    dpc_param_t param = {};
    param.space = uint32_t(spaceOf(place.root));
    param.family = place.shardAxes ? mesh.getFamily(place.shardAxes) : DPC_NONE;
    param.offset = *offsetOf(place.root) + place.offset;
    param.micro_stride = place.stride;
    param.index_stride = place.shardStride;
    param.bytes = bufferBytes(buffer.getType());
    params.append(param);
    ++paramCount;
  }
}

void LaunchTable::add(FunctionOp function) {
  dpc_launches_t record = {launchCount, 0};
  for (Operation &op : function.getBodyBlock()) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      addLaunch(DPC_LAUNCH_KERNEL, launch.getOperands(), getKernel(launch.getKernel()));
    else if (auto copy = dyn_cast<CopyOp>(op))
      addLaunch(DPC_LAUNCH_COPY, copy.getOperands());
    else if (auto microbatch = dyn_cast<MicrobatchOp>(op))
      addLaunch(DPC_LAUNCH_FILL, microbatch.getOperation()->getOperands());
  }
  record.count = launchCount - record.first;
  functions.append(record);
}

llvm::Constant *LaunchTable::emit() {
  dpc_device_program_t record = {};
  record.struct_size = sizeof(record);
  record.kernel_count = kernelIndex.size();
  record.launch_count = launchCount;
  record.param_count = paramCount;
  RecordImage image;
  image.append(record);
  image.setPointer(offsetof(dpc_device_program_t, kernels), kernels.emit(target, "kernels"));
  image.setPointer(offsetof(dpc_device_program_t, launches), launches.emit(target, "launches"));
  image.setPointer(offsetof(dpc_device_program_t, params), params.emit(target, "params"));
  image.setPointer(offsetof(dpc_device_program_t, functions),
                   functions.emit(target, "function.launches"));
  return image.emit(target, "device");
}
