#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H

#include "targets/Loops/Kernels/KernelGraph.h"

#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A piece of the scratch memory of a kernel.
struct ScratchPiece {
  int64_t offset = 0, bytes = 0;
};

/// Allocates the scratch memory of a kernel, for its loop groups in their order.
class ScratchAllocator {
public:
  /// Allocates a piece of at least `bytes` bytes, which stays allocated until group
  /// `lastGroup` has run.
  ScratchPiece allocate(int64_t bytes, unsigned lastGroup);
  /// Frees the memory whose last group is before `group`.
  void startGroup(unsigned group);
  int64_t getPeak() const { return peak; }

private:
  struct Owned {
    ScratchPiece piece;
    unsigned lastGroup;
  };
  llvm::SmallVector<Owned> pieces; // sorted by offset
  int64_t peak = 0;
};

/// Plans where the values of one kernel are: in the buffers of its operands and results,
/// in tables of constants, in scratch memory, or in registers. Places are planned group by
/// group, before code is generated.
class KernelPlaces {
public:
  struct Place {
    enum class Kind { argument, table, scratch, shared, registers } kind;
    /// The number of the argument or of the table, or the offset in scratch memory.
    int64_t number = 0;
    /// The number of elements of a row if the place holds only one row at a time,
    /// otherwise 0.
    int64_t rowElements = 0;
  };

  /// Places the operands, the results, and the constants that are not splats. These
  /// constants become tables.
  explicit KernelPlaces(const KernelGraph &graph);

  /// The values that have a place before the first group, with their places, in a fixed
  /// order.
  llvm::ArrayRef<std::pair<mlir::Value, Place>> getArguments() const { return arguments; }
  unsigned getOperandCount() const { return operands; }
  unsigned getResultCount() const { return results; }
  int64_t getScratchBytes() const { return scratch.getPeak(); }

  /// Whether `value` is stored in the buffer of a result, and whether this is result
  /// number `result`.
  bool isResult(mlir::Value value) const { return resultOf.contains(value); }
  bool isStoredIn(mlir::Value value, unsigned result) const;
  /// The place of `value`; null if `value` is inlined.
  const Place *find(mlir::Value value) const;
  /// Whether all elements of `value` are in memory, at an address that rules can use.
  bool isInMemory(mlir::Value value) const;

  /// Begins the plan of group `group`: frees the scratch memory that this group and later
  /// groups do not use.
  void startGroup(unsigned group) { scratch.startGroup(group); }
  /// Places `value` in scratch memory until group `lastGroup` has run. The memory holds
  /// all elements, or only one row of `rowElements` elements at a time.
  void placeInScratch(mlir::Value value, int64_t rowElements, unsigned lastGroup);
  void place(mlir::Value value, Place place) { places[value] = place; }
  /// Allocates scratch memory for a fill rule until group `lastGroup` has run.
  ScratchPiece reserve(int64_t bytes, unsigned lastGroup) {
    return scratch.allocate(bytes, lastGroup);
  }

  /// The type in which an element of `value` is stored: i8 for i1, otherwise the register
  /// type.
  static mlir::Type storageType(mlir::Value value);

private:
  unsigned operands, results;
  ScratchAllocator scratch;
  llvm::SmallVector<std::pair<mlir::Value, Place>> arguments;
  llvm::DenseMap<mlir::Value, Place> places;
  /// For each value that is stored in the buffer of a result: the number of the result.
  llvm::DenseMap<mlir::Value, unsigned> resultOf;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H
