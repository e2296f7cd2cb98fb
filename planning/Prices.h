// Computes the prices of collectives and messages between the ranks of a mesh. The inputs are plain
// numbers, such as bytes. planning/Device computes the prices of kernels.
//
// All decisions that compare times use these prices: layouts, recomputation, divided updates
// and the order of a step. passes/Prices computes the flops and bytes of ops.

#ifndef DPC_PLANNING_PRICES_H
#define DPC_PLANNING_PRICES_H

#include "planning/Machine.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace dpc {

/// Returns the seconds that a copy of `bytes` bytes in another order, such as a transposition, adds
/// to a step. This is less than a pass over memory, because another op usually does the copy.
double reorderSeconds(const Device &device, double bytes);

/// The share of the time of a collective of gradients that makes a step longer, as long as the
/// order of the step is not known. Gradients move while the backward pass computes, but they take
/// some of the memory bandwidth. All other collectives count fully, because a step waits for them.
inline constexpr double kExposedOfGradients = 0.25;

/// The costs of a collective or a message for each member of its group.
struct Price {
  double seconds = 0;
  /// Bytes that the member sends.
  double bytes = 0;
};

/// Returns the bytes that a member of a collective of `members` devices sends. A member has two
/// buffers, the operand and the result. `bytes` is the size of the larger one: the result of an
/// all-gather, or the operand of a reduce-scatter. An all-reduce is a reduce-scatter followed by an
/// all-gather.
double bytesSent(CollectiveKind kind, double bytes, int64_t members);

/// The prices between the ranks of a mesh. Rank r is device r of the machine; the coordinate along
/// the last axis of the mesh changes fastest.
class MeshPrices {
public:
  /// `axes` are the names and sizes of the mesh axes in rank order. Needs: no more ranks than
  /// Topology::countDevices().
  MeshPrices(Machine machine, llvm::ArrayRef<std::pair<std::string, int64_t>> axes);

  const Machine &machine() const { return shared->machine; }
  const Device &device() const { return shared->machine.device(); }

  /// The groups of ranks over `axes`, each in rank order: ranks with equal coordinates on all other
  /// axes. If there are `coordinates`, there is one axis, and only the ranks with these coordinates
  /// on it form groups.
  std::vector<llvm::SmallVector<int64_t>>
  groupsOver(llvm::ArrayRef<llvm::StringRef> axes, llvm::ArrayRef<int64_t> coordinates = {}) const;

  /// Returns the price of a collective over `axes`. Every group of ranks over these axes has one at
  /// the same time, and the slowest group counts. `bytes` as in bytesSent(). Names that the mesh
  /// does not have are axes of one rank.
  Price collective(CollectiveKind kind, double bytes, llvm::ArrayRef<llvm::StringRef> axes) const;

  /// The same, in which only the ranks with the given coordinates on `axis` take part.
  Price collective(CollectiveKind kind, double bytes, llvm::StringRef axis,
                   llvm::ArrayRef<int64_t> coordinates) const;

  /// Returns the price of a message of `bytes` bytes from each rank to the next one along `axis`,
  /// for its sender. The slowest message counts.
  Price message(double bytes, llvm::StringRef axis) const;

private:
  Price collectiveOn(CollectiveKind kind, double bytes, llvm::ArrayRef<GroupPlaces> places) const;
  /// The groups of ranks over the axes in `set`, a bit per axis.
  std::vector<llvm::SmallVector<int64_t>> groupsOfSet(uint64_t set) const;
  /// The places of these groups, or of the pairs of neighbours in them.
  llvm::ArrayRef<GroupPlaces> placesOver(uint64_t set, bool asPairs) const;
  uint64_t setOf(llvm::ArrayRef<llvm::StringRef> axes) const;

  /// Copies share what was computed. Several threads may use it.
  struct Shared {
    Machine machine;
    std::vector<std::pair<std::string, int64_t>> axes;
    std::mutex mutex;
    std::map<uint64_t, std::vector<GroupPlaces>> places, pairPlaces;
  };
  std::shared_ptr<Shared> shared;
};

} // namespace dpc

#endif // DPC_PLANNING_PRICES_H
