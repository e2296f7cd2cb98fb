#ifndef DPC_INTERPRETER_WORLD_H
#define DPC_INTERPRETER_WORLD_H

#include "dialects/Dist/IR/MeshShape.h"
#include "interpreter/Evaluator.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace dpc {

/// The devices of a mesh: threads of this process, which meet in exchanges.
class World {
public:
  explicit World(dist::MeshShape mesh) : mesh(std::move(mesh)) {}

  const dist::MeshShape mesh;

  /// Makes all current and later exchanges fail.
  void abort();

  /// Exchanges tensors with the other members of `rank`'s group; see
  /// InterpreterContext::exchange.
  mlir::FailureOr<std::vector<HostTensor>> exchange(mlir::Operation *op,
                                                    llvm::ArrayRef<llvm::StringRef> axes,
                                                    int64_t rank, const HostTensor &mine);

private:
  /// The exchange of one group. Members deposit their parts; when all have
  /// arrived, each takes a copy of all parts and leaves.
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
