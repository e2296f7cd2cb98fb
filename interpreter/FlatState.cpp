// Packs logical tensors of state into flat storage, and unpacks them.

#include "interpreter/FlatState.h"

#include "dialects/Dist/IR/LayoutShards.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/NN/IR/Program.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

static SmallVector<StringRef> axesOf(StorageAttr storage) {
  SmallVector<StringRef> axes;
  for (StringAttr axis : storage.getAxes())
    axes.push_back(axis.getValue());
  return axes;
}

static std::string nameOf(MemberAttr member) {
  return cast<nn::ArgAttr>(member.getBinding()).getName().str();
}

FailureOr<std::vector<HostTensor>> dpc::storeFlat(const TensorMap &state, StorageAttr storage,
                                                  RankedTensorType type, const MeshShape &mesh,
                                                  std::string &missing) {
  const SmallVector<StringRef> axes = axesOf(storage);
  const int64_t held = type.getNumElements();
  std::vector<HostTensor> devices;
  for (int64_t rank = 0; rank < mesh.worldSize(); ++rank) {
    const auto coordinates = mesh.coordinates(rank);
    HostTensor all(RankedTensorType::get({held * groupSize(mesh, axes)}, type.getElementType()));
    for (MemberAttr member : storage.getMembers()) {
      auto tensor = state.find(nameOf(member));
      if (tensor == state.end()) {
        missing = nameOf(member);
        return failure();
      }
      copyToLocal(tensor->second.floats.data(), all.floats.data() + member.getOffset(), 8,
                  member.getLayout().getLayout(), coordinates, mesh);
    }
    HostTensor own(type);
    const int64_t first = held * groupIndex(mesh, axes, coordinates);
    std::copy_n(all.floats.begin() + first, held, own.floats.begin());
    devices.push_back(std::move(own));
  }
  return devices;
}

void dpc::loadFlat(ArrayRef<HostTensor> held, ArrayRef<int64_t> ranks, StorageAttr storage,
                   const MeshShape &mesh, TensorMap &state) {
  const SmallVector<StringRef> axes = axesOf(storage);
  // The undivided storage of each group of devices along `axes`. The key of a
  // group is the coordinates of its first device.
  std::map<std::vector<int64_t>, std::vector<double>> groups;
  for (int64_t rank : ranks) {
    const auto coordinates = mesh.coordinates(rank);
    std::vector<int64_t> first(coordinates.begin(), coordinates.end());
    for (StringRef axis : axes)
      if (std::optional<unsigned> index = mesh.axisIndex(axis))
        first[*index] = 0;
    const std::vector<double> &own = held[rank].floats;
    std::vector<double> &all = groups[first];
    all.resize(own.size() * groupSize(mesh, axes));
    std::copy(own.begin(), own.end(),
              all.begin() + own.size() * groupIndex(mesh, axes, coordinates));
  }
  for (MemberAttr member : storage.getMembers()) {
    const Layout layout = member.getLayout().getLayout();
    HostTensor tensor(nn::withShape(member.getTensorType(), layout.shape()));
    for (const auto &[coordinates, all] : groups)
      copyToGlobal(all.data() + member.getOffset(), tensor.floats.data(), 8, layout, coordinates,
                   mesh);
    state.insert_or_assign(nameOf(member), std::move(tensor));
  }
}
