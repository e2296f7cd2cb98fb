#ifndef DPC_INTERPRETER_WORLD_H
#define DPC_INTERPRETER_WORLD_H

#include "dialects/Dist/IR/MeshShape.h"
#include "interpreter/Evaluator.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace dpc {

/// The devices of a mesh. Each device is a thread of this process. The threads
/// exchange tensors in collectives.
class World {
public:
  explicit World(dist::MeshShape mesh) : mesh(std::move(mesh)) {}

  const dist::MeshShape mesh;

  /// Makes all current and later exchanges fail, so that no thread waits for a
  /// thread that has failed.
  void abort();

  /// Gives `mine` to the other members of `rank`'s group along `axes`, and
  /// returns the tensors of all members; see InterpreterContext::exchange.
  /// Fails if members are at different ops or give tensors of different types, and after abort().
  mlir::FailureOr<std::vector<HostTensor>> exchange(mlir::Operation *op,
                                                    llvm::ArrayRef<llvm::StringRef> axes,
                                                    int64_t rank, const HostTensor &mine);

private:
  /// The state of one group's exchange. Each member adds its tensor to `parts`.
  /// When all members have arrived, each one copies all tensors and leaves. The
  /// next round begins when all members have left.
  struct Meeting {
    mlir::Operation *op = nullptr;
    std::vector<HostTensor> parts;
    int64_t arrived = 0, left = 0;
    uint64_t round = 0;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Meeting> meetings;
  bool aborted = false;
};

/// One device of a World.
class WorldMember final : public DeviceContext {
public:
  WorldMember(World &world, int64_t rank)
      : world(world), rank(rank), coordinates(world.mesh.coordinates(rank)) {}

  int64_t getAxisIndex(llvm::StringRef axis) override;
  int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef> axes) override;
  void setSequentialIndex(llvm::StringRef axis, int64_t index) override;
  mlir::FailureOr<std::vector<HostTensor>> exchange(mlir::Operation *op,
                                                    llvm::ArrayRef<llvm::StringRef> axes,
                                                    const HostTensor &mine) override {
    return world.exchange(op, axes, rank, mine);
  }

private:
  World &world;
  int64_t rank;
  llvm::SmallVector<int64_t, 4> coordinates;
};

} // namespace dpc

#endif // DPC_INTERPRETER_WORLD_H
