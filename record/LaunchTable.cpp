// Writes the functions of a program for a device as lists of launches. A launch runs a
// kernel, makes a library call, copies a buffer, or writes the number of the microbatch.
// Each launch lists the spaces and offsets of its buffers.

#include "record/LaunchTable.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dpc/device.h"
#include "record/Functions.h"
#include "record/Tensors.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

/// Declares a placeholder. defineGrids later replaces it by the table of a kernel's code images
/// (PTX and machine code), or by the name of one of the kernel's functions in them.
static llvm::Constant *declare(llvm::Module &module, const Twine &name) {
  return module.getOrInsertGlobal(name.str(), llvm::Type::getInt8Ty(module.getContext()));
}

uint32_t LaunchTable::getKernel(LaunchOp launch, StringRef entry) {
  StringRef name = launch.getKernel();
  auto [known, isNew] = kernelIndex.try_emplace((name + entry).str(), kernelIndex.size());
  if (!isNew)
    return known->second;
  uint64_t at = kernels.append(dpc_kernel_t{});
  auto function = symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
  std::string nodes = namesOf(function->getLoc()).nodes;
  kernels.setPointer(
      at + offsetof(dpc_kernel_t, name),
      pool.getString(nodes.empty() ? name.str() : (name + " (" + nodes + ")").str()));
  if (form == FunctionForm::launchTable) {
    kernels.setPointer(at + offsetof(dpc_kernel_t, code), declareKernel(target, name));
  } else {
    kernels.setPointer(at + offsetof(dpc_kernel_t, images), declare(target, "images " + name));
    kernels.setPointer(at + offsetof(dpc_kernel_t, symbol),
                       declare(target, "symbol " + name + " " + entry));
  }
  return known->second;
}

void LaunchTable::addKernel(LaunchOp launch) {
  dpc_launch_t record = {};
  record.kind = DPC_LAUNCH_KERNEL;
  if (form == FunctionForm::launchTable) {
    record.kernel = getKernel(launch, "");
    return addLaunch(record, launch.getOperands());
  }
  auto kernel = symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
  auto grids = kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName);
  if (!grids) // the kernel has no elements to compute
    return;
  for (GridAttr grid : grids.getAsRange<GridAttr>()) {
    record.kernel = getKernel(launch, grid.getEntry());
    record.blocks = static_cast<uint32_t>(grid.getBlocks());
    record.threads = static_cast<uint32_t>(grid.getThreads());
    record.shared_bytes = static_cast<uint32_t>(grid.getShared());
    record.kind = DPC_LAUNCH_KERNEL;
    if (CallAttr call = grid.getCall())
      addCall(record, call, launch->getOperands());
    SmallVector<Value> buffers;
    for (int64_t number : grid.getBuffers().asArrayRef())
      buffers.push_back(launch->getOperand(static_cast<unsigned>(number)));
    addLaunch(record, buffers);
  }
}

void LaunchTable::addLaunch(dpc_launch_t launch, ValueRange buffers) {
  launch.first_param = paramCount;
  launch.param_count = buffers.size();
  launches.append(launch);
  ++launchCount;
  for (Value buffer : buffers)
    addParam(buffer);
}

/// Adds a parameter to the param table: the part of `buffer` that begins `behind` bytes
/// after the start of `buffer`. The part ends with the buffer, or after `most` bytes if this
/// is earlier.
void LaunchTable::addParam(Value buffer, uint64_t behind, uint64_t most) {
  Place place = placeOf(buffer, symbols);
  dpc_param_t param = {};
  param.space = uint32_t(spaceOf(place.root));
  if (auto frame = dyn_cast<FrameOp>(place.root))
    param.frame = frame.getNumber() + 1;
  param.family = place.shardAxes ? mesh.getFamily(place.shardAxes) : DPC_NONE;
  param.offset = *offsetOf(place.root) + place.offset + behind;
  param.micro_stride = place.stride;
  param.index_stride = place.shardStride;
  param.bytes = std::min<uint64_t>(bufferBytes(buffer.getType()) - behind, most);
  params.append(param);
  ++paramCount;
}

/// Returns the index of a library call in the table of calls. Adds the call to the table
/// if the table does not have it yet.
uint64_t LaunchTable::getCall(CallAttr call) {
  const StringRef description = call.getDescription();
  auto [known, isNew] =
      callIndex.try_emplace((Twine(call.getKind()) + " " + description).str(), callIndex.size());
  if (isNew) {
    dpc_library_call_t record = {};
    record.kind = call.getKind();
    record.bytes = static_cast<uint32_t>(description.size());
    const uint64_t at = calls.append(record);
    calls.setPointer(at + offsetof(dpc_library_call_t, description),
                     pool.addBytes(description, "call"));
  }
  return known->second;
}

/// Turns `launch`, which runs a kernel, into a launch that may make a library call
/// instead. Adds the buffers of the call to the param table.
void LaunchTable::addCall(dpc_launch_t &launch, CallAttr call, ValueRange buffers) {
  launch.kind = DPC_LAUNCH_CALL;
  launch.call = getCall(call);
  launch.first_call_param = paramCount;
  launch.call_param_count = call.getBuffers().size();
  for (const CallBuffer &buffer : call.getBuffers())
    addParam(buffers[static_cast<size_t>(buffer.buffer)], buffer.offset,
             buffer.bytes ? static_cast<uint64_t>(*buffer.bytes) : UINT64_MAX);
}

void LaunchTable::add(FunctionOp function) {
  dpc_launches_t record = {launchCount, 0};
  dpc_launch_t copies = {}, fills = {};
  copies.kind = DPC_LAUNCH_COPY;
  fills.kind = DPC_LAUNCH_FILL;
  fills.micro_step = 1;
  copies.kernel = fills.kernel = DPC_NONE;
  for (Operation &op : function.getBodyBlock()) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      addKernel(launch);
    else if (auto copy = dyn_cast<CopyOp>(op))
      addLaunch(copies, copy.getOperands());
    else if (auto microbatch = dyn_cast<MicrobatchOp>(op))
      addLaunch(fills, microbatch.getOperation()->getOperands());
  }
  record.count = launchCount - record.first;
  functions.append(record);
}

llvm::Constant *LaunchTable::emit() {
  dpc_device_program_t record = {};
  record.struct_size = sizeof(record);
  record.kind = form == FunctionForm::gridTable ? DPC_DEVICE_CUDA : DPC_DEVICE_HOST;
  record.kernel_count = kernelIndex.size();
  record.launch_count = launchCount;
  record.param_count = paramCount;
  record.call_count = callIndex.size();
  RecordImage image;
  image.append(record);
  image.setPointer(offsetof(dpc_device_program_t, kernels), kernels.emit(target, "kernels"));
  image.setPointer(offsetof(dpc_device_program_t, launches), launches.emit(target, "launches"));
  image.setPointer(offsetof(dpc_device_program_t, params), params.emit(target, "params"));
  image.setPointer(offsetof(dpc_device_program_t, functions),
                   functions.emit(target, "function.launches"));
  image.setPointer(offsetof(dpc_device_program_t, calls), calls.emit(target, "calls"));
  return image.emit(target, "device");
}

/// The compute capability of a processor as 10 * major + minor, e.g. 80 for sm_80. 0 if
/// the name does not have this form.
static uint32_t capabilityOf(StringRef processor) {
  uint32_t number = 0;
  return processor.consume_front("sm_") && !processor.getAsInteger(10, number) ? number : 0;
}

namespace {
/// The tables of images of kernels. Kernels with equal code share a table.
class ImageTables {
public:
  ImageTables(llvm::Module &module, ConstantPool &pool, StringRef processor)
      : module(module), pool(pool), processor(processor) {}

  llvm::Constant *get(const KernelObject &object) {
    llvm::Constant *&made = tables[object.symbol];
    if (made)
      return made;
    RecordImage table;
    add(table, DPC_IMAGE_PTX, processor, object.object + std::string(1, 0), object.symbol + ".ptx");
    for (const MachineCode &code : object.machineCode)
      add(table, DPC_IMAGE_CUBIN, code.processor, code.bytes, object.symbol + "." + code.processor);
    table.append(dpc_image_t{});
    return made = table.emit(module, object.symbol + ".images");
  }

private:
  void add(RecordImage &table, uint32_t kind, StringRef device, const std::string &bytes,
           const Twine &name) {
    dpc_image_t record = {};
    record.kind = kind;
    record.arch = capabilityOf(device);
    record.bytes = bytes.size();
    const uint64_t at = table.append(record);
    table.setPointer(at + offsetof(dpc_image_t, data), pool.addBytes(bytes, name.str()));
  }

  llvm::Module &module;
  ConstantPool &pool;
  StringRef processor;
  llvm::StringMap<llvm::Constant *> tables;
};
} // namespace

void dpc::defineGrids(llvm::Module &module, ArrayRef<KernelObject> objects, StringRef processor) {
  ConstantPool pool(module);
  ImageTables images(module, pool, processor);
  llvm::StringMap<const KernelObject *> byKernel;
  for (const KernelObject &object : objects)
    byKernel[object.kernel] = &object;
  for (llvm::GlobalVariable &global : llvm::make_early_inc_range(module.globals())) {
    SmallVector<StringRef, 3> name;
    global.getName().split(name, ' ');
    if (name.size() < 2 || !byKernel.count(name[1]))
      continue;
    const KernelObject &object = *byKernel[name[1]];
    global.replaceAllUsesWith(name[0] == "images" ? images.get(object)
                                                  : pool.getString(object.symbol + name[2].str()));
    global.eraseFromParent();
  }
}
