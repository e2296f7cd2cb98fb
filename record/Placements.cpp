// Where each rank holds which elements of a tensor that the host sees, as the
// runs of a placement record (runtime/include/dpc/records.h).
#include "record/Tensors.h"

#include "dialects/Dist/IR/LayoutShards.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dpc/records.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

HostedTensor::HostedTensor(PersistentOp persistent)
    : persistent(persistent),
      layout(dyn_cast_or_null<dist::LayoutAttr>(persistent.getLayoutAttr())),
      type(tensorOf(persistent.getType())) {}

HostedTensor::HostedTensor(PersistentOp persistent, dist::StorageAttr storage,
                           dist::MemberAttr member)
    : persistent(persistent), layout(member.getLayout()), type(member.getTensorType()),
      first(member.getOffset()), axes(storage.getAxes()) {}

SmallVector<int64_t> HostedTensor::globalShape() const {
  return llvm::to_vector(layout ? ArrayRef<int64_t>(layout.getLayout().shape()) : type.getShape());
}

/// Adds a piece to `runs`: to the last run where it continues its pattern, so
/// that a cut matrix is one run and not one a row.
static void addRun(std::vector<dpc_run_t> &runs, int64_t global, int64_t local, int64_t length) {
  if (!runs.empty() && int64_t(runs.back().length) == length) {
    dpc_run_t &last = runs.back();
    int64_t count = last.count[0];
    int64_t lastGlobal = last.global + (count - 1) * last.global_step[0];
    int64_t lastLocal = last.local + (count - 1) * last.local_step[0];
    int64_t globalStep = global - lastGlobal, localStep = local - lastLocal;
    bool fits = count == 1 ? globalStep > 0
                           : globalStep == int64_t(last.global_step[0]) &&
                                 localStep == int64_t(last.local_step[0]);
    if (fits) {
      last.global_step[0] = globalStep;
      last.local_step[0] = localStep;
      ++last.count[0];
      return;
    }
  }
  dpc_run_t run = {};
  run.local = local;
  run.global = global;
  run.length = length;
  run.count[0] = run.count[1] = 1;
  runs.push_back(run);
}

/// Where each rank holds which elements: its shard of the tensor, and of that
/// what lies in its shard of the storage.
llvm::Constant *TensorRecords::emitPlacements(HostedTensor tensor) {
  RecordImage placements;
  const int64_t part = tensor.persistent.getBufferType().getNumElements(),
                elements = tensor.type.getNumElements();
  SmallVector<StringRef> axes;
  for (StringAttr axis : tensor.axes)
    axes.push_back(axis);
  for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
    auto coordinates = mesh.getShape().coordinates(rank);
    const int64_t index = dist::groupIndex(mesh.getShape(), axes, coordinates);
    // Elements [low, high) of the shard lie in this rank's part.
    const int64_t low = std::max<int64_t>(0, index * part - tensor.first),
                  high = std::min(elements, (index + 1) * part - tensor.first);
    std::vector<dpc_run_t> runs;
    auto add = [&](int64_t global, int64_t local, int64_t length) {
      int64_t begin = std::max(local, low), end = std::min(local + length, high);
      if (begin < end)
        addRun(runs, global + begin - local, begin - low, end - begin);
    };
    if (tensor.layout)
      dist::forEachRun(tensor.layout.getLayout(), coordinates, mesh.getShape(), add);
    else
      add(0, 0, elements);
    RecordImage table;
    for (const dpc_run_t &run : runs)
      table.append(run);
    dpc_placement_t placement = {};
    placement.space = uint32_t(tensor.persistent.getSpace());
    placement.owner = 1;
    placement.offset = *tensor.persistent.getOffset();
    if (low < high) {
      placement.offset += (tensor.first + low - index * part) * elementBytes(tensor.type);
      placement.elements = high - low;
    }
    placement.run_count = runs.size();
    uint64_t at = placements.append(placement);
    placements.setPointer(at + offsetof(dpc_placement_t, runs), table.emit(target, "runs"));
  }
  return placements.emit(target, "placements");
}
