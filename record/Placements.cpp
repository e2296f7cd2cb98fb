// Writes the placement records (runtime/include/dpc/records.h) of the tensors that the host
// accesses: which elements of a tensor each rank holds, and where they are.
#include "record/PlacementRuns.h"
#include "record/Tensors.h"

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

/// Emits the placement of a tensor on each rank. If ranks divide flat storage, a rank holds
/// those elements of its shard that lie in its part of the storage.
llvm::Constant *TensorRecords::emitPlacements(const Parts &parts) {
  RecordImage placements;
  for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
    const TensorPart *own = findPart(parts, rank);
    if (!own) { // another stage has the tensor
      placements.append(dpc_placement_t{});
      continue;
    }
    HostedTensor tensor = own->tensor;
    const int64_t part = tensor.persistent.getBufferType().getNumElements(),
                  elements = tensor.type.getNumElements();
    const dist::Layout layout = tensor.layout ? tensor.layout.getLayout()
                                              : dist::Layout::replicated(tensor.type.getShape());
    SmallVector<StringRef> axes;
    for (StringAttr axis : tensor.axes)
      axes.push_back(axis);
    auto coordinates = mesh.getShape().coordinates(rank);
    const int64_t index = dist::groupIndex(mesh.getShape(), axes, coordinates);
    // This rank's part of the storage has elements [low, high) of the shard.
    const int64_t low = std::max<int64_t>(0, index * part - tensor.first),
                  high = std::min(elements, (index + 1) * part - tensor.first);
    std::vector<dpc_run_t> runs;
    if (low < high)
      runs = placementRuns(layout, coordinates, mesh.getShape(), low, high);
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

llvm::Constant *TensorRecords::emitPlaces(const Parts &parts) {
  RecordImage places;
  for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
    dpc_place_t place = {};
    place.space = DPC_NONE;
    if (const TensorPart *part = findPart(parts, rank)) {
      PersistentOp persistent = part->tensor.persistent;
      place.space = uint32_t(persistent.getSpace());
      place.offset = *persistent.getOffset();
    }
    places.append(place);
  }
  return places.emit(target, "places");
}
