#ifndef DPC_INTERPRETER_WORLD_H
#define DPC_INTERPRETER_WORLD_H

#include "dialects/Dist/IR/MeshShape.h"
#include "interpreter/Evaluator.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace dpc {

/// The devices of a mesh. Each device is a thread of this process. The threads
/// exchange tensors in collectives and in messages.
class World {
public:
  explicit World(dist::MeshShape mesh) : mesh(std::move(mesh)) {}

  const dist::MeshShape mesh;

  /// Makes all current and later exchanges fail, so that no thread waits for a
  /// thread that has failed.
  void abort();

  /// A device has run its function. If all other devices wait, none of them can go on, and their
  /// exchanges fail.
  void finish();

  /// Gives `mine` to the other members of `rank`'s group along `axes`, and
  /// returns the tensors of all members; see InterpreterContext::exchange.
  /// Fails if members are at different ops or give tensors of different types, and after abort().
  mlir::FailureOr<std::vector<HostTensor>> exchange(mlir::Operation *op,
                                                    llvm::ArrayRef<llvm::StringRef> axes,
                                                    int64_t rank, const HostTensor &mine);

  /// Sends, receives and exchanges tensors between devices whose coordinates differ only on one
  /// axis; see InterpreterContext. `peer` is a rank.
  mlir::LogicalResult send(mlir::Operation *op, int64_t rank, int64_t peer, int64_t number,
                           const HostTensor &tensor);
  mlir::FailureOr<HostTensor> receive(mlir::Operation *op, int64_t rank, int64_t peer,
                                      int64_t number);
  mlir::FailureOr<std::vector<HostTensor>> exchangeAmong(mlir::Operation *op,
                                                         llvm::ArrayRef<int64_t> ranks,
                                                         int64_t rank, int64_t number,
                                                         const HostTensor &mine);

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

  /// Exchanges tensors in the meeting `key`, which has `size` members; `index` is the number of
  /// this member. If `isOneOp` is set, all members must be at the same op.
  mlir::FailureOr<std::vector<HostTensor>> meet(mlir::Operation *op, const std::string &key,
                                                int64_t size, int64_t index, bool isOneOp,
                                                const HostTensor &mine);

  /// Waits until `isReady` returns true. Fails if the world is aborted, or if all devices wait or
  /// have finished; then emits an error on `op`.
  mlir::LogicalResult wait(std::unique_lock<std::mutex> &lock, mlir::Operation *op,
                           llvm::function_ref<bool()> isReady);

  /// Wakes all waiting devices, because the state of an exchange has changed.
  void announceChange();

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Meeting> meetings;
  /// By sender, receiver and number: the messages that were sent and not yet received.
  std::map<std::array<int64_t, 3>, std::deque<HostTensor>> messages;
  /// The devices that have found, since the last change, that they cannot go on; and the devices
  /// that have finished.
  int64_t stuck = 0, finished = 0;
  /// The number of changes so far.
  uint64_t changes = 0;
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
  mlir::LogicalResult send(mlir::Operation *op, llvm::StringRef axis, int64_t stage, int64_t number,
                           const HostTensor &tensor) override {
    return world.send(op, rank, getPeer(axis, stage), number, tensor);
  }
  mlir::FailureOr<HostTensor> receive(mlir::Operation *op, llvm::StringRef axis, int64_t stage,
                                      int64_t number) override {
    return world.receive(op, rank, getPeer(axis, stage), number);
  }
  mlir::FailureOr<std::vector<HostTensor>> exchangeAmong(mlir::Operation *op, llvm::StringRef axis,
                                                         llvm::ArrayRef<int64_t> stages,
                                                         int64_t number,
                                                         const HostTensor &mine) override;

private:
  /// The device whose coordinates are those of this device, but `stage` on `axis`.
  int64_t getPeer(llvm::StringRef axis, int64_t stage) const;

  World &world;
  int64_t rank;
  llvm::SmallVector<int64_t, 4> coordinates;
};

} // namespace dpc

#endif // DPC_INTERPRETER_WORLD_H
