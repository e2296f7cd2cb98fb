// Implements the ranks of a mesh as threads of one process. The threads of a
// group exchange tensors through memory that they share.

#include "interpreter/World.h"

#include "dialects/Dist/IR/MeshGroups.h"

using namespace mlir;
using namespace dpc;

void World::announceChange() {
  // Every device that waits looks again, and counts itself again if it still cannot go on.
  stuck = 0;
  ++changes;
  changed.notify_all();
}

void World::abort() {
  std::lock_guard<std::mutex> lock(mutex);
  aborted = true;
  changed.notify_all();
}

void World::finish() {
  std::lock_guard<std::mutex> lock(mutex);
  ++finished;
  announceChange();
}

LogicalResult World::wait(std::unique_lock<std::mutex> &lock, Operation *op,
                          llvm::function_ref<bool()> isReady) {
  while (!aborted && !isReady()) {
    if (++stuck + finished == mesh.worldSize()) {
      aborted = true;
      changed.notify_all();
      lock.unlock();
      return op->emitOpError("waits for another device, but all devices wait or have ended");
    }
    const uint64_t seen = changes;
    changed.wait(lock, [&] { return aborted || changes != seen; });
  }
  return success(!aborted);
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
  return meet(op, key, size, index, /*isOneOp=*/true, mine);
}

FailureOr<std::vector<HostTensor>> World::exchangeAmong(Operation *op, ArrayRef<int64_t> ranks,
                                                        int64_t rank, int64_t number,
                                                        const HostTensor &mine) {
  if (!llvm::is_contained(ranks, rank))
    return op->emitOpError("runs on a device that is not among its members"), failure();
  std::string key = "#" + std::to_string(number);
  for (int64_t member : ranks)
    key += "," + std::to_string(member);
  return meet(op, key, ranks.size(), llvm::find(ranks, rank) - ranks.begin(), /*isOneOp=*/false,
              mine);
}

FailureOr<std::vector<HostTensor>> World::meet(Operation *op, const std::string &key, int64_t size,
                                               int64_t index, bool isOneOp,
                                               const HostTensor &mine) {
  std::unique_lock<std::mutex> lock(mutex);
  Meeting &meeting = meetings[key];
  // Wait until all members have left the previous round.
  if (failed(wait(lock, op, [&] { return meeting.left == 0; })))
    return failure();
  if (meeting.arrived == 0) {
    meeting.op = op;
    meeting.parts.assign(size, HostTensor());
  }
  if ((isOneOp && meeting.op != op) ||
      (meeting.arrived > 0 && llvm::any_of(meeting.parts, [&](const auto &p) {
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
    announceChange();
  }
  if (failed(wait(lock, op, [&] { return meeting.round != round; })))
    return failure();
  std::vector<HostTensor> parts = meeting.parts;
  if (--meeting.left == 0) {
    meeting.arrived = 0;
    announceChange();
  }
  return parts;
}

LogicalResult World::send(Operation *, int64_t rank, int64_t peer, int64_t number,
                          const HostTensor &tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  messages[{rank, peer, number}].push_back(tensor);
  announceChange();
  return success(!aborted);
}

FailureOr<HostTensor> World::receive(Operation *op, int64_t rank, int64_t peer, int64_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  std::deque<HostTensor> &queue = messages[{peer, rank, number}];
  if (failed(wait(lock, op, [&] { return !queue.empty(); })))
    return failure();
  HostTensor message = std::move(queue.front());
  queue.pop_front();
  return message;
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

int64_t WorldMember::getPeer(StringRef axis, int64_t stage) const {
  SmallVector<int64_t, 4> peer = coordinates;
  peer[*world.mesh.axisIndex(axis)] = stage;
  return world.mesh.rankOf(peer);
}

FailureOr<std::vector<HostTensor>> WorldMember::exchangeAmong(Operation *op, StringRef axis,
                                                              ArrayRef<int64_t> stages,
                                                              int64_t number,
                                                              const HostTensor &mine) {
  SmallVector<int64_t> ranks;
  for (int64_t stage : stages)
    ranks.push_back(getPeer(axis, stage));
  return world.exchangeAmong(op, ranks, rank, number, mine);
}
