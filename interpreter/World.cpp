// Implements the ranks of a mesh as threads of one process. The threads of a
// group exchange tensors through memory that they share.

#include "interpreter/World.h"

#include "dialects/Dist/IR/MeshGroups.h"

using namespace mlir;
using namespace dpc;

void World::abort() {
  std::lock_guard<std::mutex> lock(mutex);
  aborted = true;
  changed.notify_all();
}

FailureOr<std::vector<HostTensor>> World::exchange(Operation *op, ArrayRef<StringRef> axes,
                                                   int64_t rank, const HostTensor &mine) {
  SmallVector<int64_t, 4> coordinates = mesh.coordinates(rank);
  const int64_t size = dist::groupSize(mesh, axes),
                index = dist::groupIndex(mesh, axes, coordinates);
  // The key of a group consists of the axes along which its members differ, and
  // the rank of its first member.
  std::string key;
  for (StringRef axis : axes) {
    key += axis.str() + ",";
    if (std::optional<unsigned> position = mesh.axisIndex(axis))
      coordinates[*position] = 0;
  }
  key += std::to_string(mesh.rankOf(coordinates));

  std::unique_lock<std::mutex> lock(mutex);
  Meeting &meeting = meetings[key];
  // Wait until all members have left the previous round.
  changed.wait(lock, [&] { return aborted || meeting.left == 0; });
  if (aborted)
    return failure();
  if (meeting.arrived == 0) {
    meeting.op = op;
    meeting.parts.assign(size, HostTensor());
  }
  if (meeting.op != op || (meeting.arrived > 0 && llvm::any_of(meeting.parts, [&](const auto &p) {
                             return p.getType() && p.getType() != mine.getType();
                           }))) {
    aborted = true;
    changed.notify_all();
    lock.unlock();
    return op->emitOpError("is reached by one device while another of its "
                           "group is at another collective"),
           failure();
  }
  meeting.parts[index] = mine;
  uint64_t round = meeting.round;
  if (++meeting.arrived == size) {
    meeting.left = size;
    ++meeting.round;
    changed.notify_all();
  }
  changed.wait(lock, [&] { return aborted || meeting.round != round; });
  if (aborted)
    return failure();
  std::vector<HostTensor> parts = meeting.parts;
  if (--meeting.left == 0) {
    meeting.arrived = 0;
    changed.notify_all();
  }
  return parts;
}

int64_t WorldMember::getAxisIndex(StringRef axis) {
  std::optional<unsigned> position = world.mesh.axisIndex(axis);
  return position ? coordinates[*position] : 0;
}

int64_t WorldMember::getGroupIndex(ArrayRef<StringRef> axes) {
  return dist::groupIndex(world.mesh, axes, coordinates);
}

void WorldMember::setSequentialIndex(StringRef axis, int64_t index) {
  if (std::optional<unsigned> position = world.mesh.axisIndex(axis))
    coordinates[*position] = index;
}
