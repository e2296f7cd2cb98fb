#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H

#include "targets/Loops/Kernels/KernelGraph.h"

#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A piece of the scratch memory of a kernel.
struct ScratchPiece {
  int64_t offset = 0, bytes = 0;
};

/// Allocates scratch memory for groups of loops, which run in order.
class ScratchAllocator {
public:
  /// A piece of at least `bytes` bytes that stays allocated until group `lastGroup` has
  /// run.
  ScratchPiece allocate(int64_t bytes, unsigned lastGroup);
  /// Frees the memory that no group from `group` on uses.
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

/// The places of one kernel's values: the buffers of its operands and results, constant
/// tables, scratch memory and registers. They are planned group by group, before any code
/// is written.
class KernelPlaces {
public:
  struct Place {
    enum class Kind { argument, table, scratch, shared, registers } kind;
    /// The number of the argument or of the table, or the offset in scratch memory.
    int64_t number = 0;
    /// Number of elements in a row if the place holds one row at a time; else 0.
    int64_t rowElements = 0;
  };

  /// Places the operands, the results, and the constants that are no splats. The
  /// constants become tables.
  explicit KernelPlaces(const KernelGraph &graph);

  /// The places of values in memory before the first group, in order.
  llvm::ArrayRef<std::pair<mlir::Value, Place>> getArguments() const { return arguments; }
  unsigned getOperandCount() const { return operands; }
  unsigned getResultCount() const { return results; }
  int64_t getScratchBytes() const { return scratch.getPeak(); }

  /// Whether `value` is stored in the buffer of a result, and whether in that of
  /// `result`.
  bool isResult(mlir::Value value) const { return resultOf.contains(value); }
  bool isStoredIn(mlir::Value value, unsigned result) const;
  /// The place of `value`; null for a value that is inlined.
  const Place *find(mlir::Value value) const;
  /// Whether all elements of `value` are in memory that rules can address.
  bool isInMemory(mlir::Value value) const;

  /// Begins the plan of group `group`: frees the scratch memory that no group from here on
  /// uses.
  void startGroup(unsigned group) { scratch.startGroup(group); }
  /// Gives `value` a place until group `lastGroup` has run. The place holds all elements,
  /// or one row of `rowElements` at a time.
  void placeInScratch(mlir::Value value, int64_t rowElements, unsigned lastGroup);
  void place(mlir::Value value, Place place) { places[value] = place; }
  /// Scratch memory of a rule until group `lastGroup` has run.
  ScratchPiece reserve(int64_t bytes, unsigned lastGroup) {
    return scratch.allocate(bytes, lastGroup);
  }

  /// The type in which an element of `value` is stored: a byte for i1, else a
  /// signless type.
  static mlir::Type storageType(mlir::Value value);

private:
  unsigned operands, results;
  ScratchAllocator scratch;
  llvm::SmallVector<std::pair<mlir::Value, Place>> arguments;
  llvm::DenseMap<mlir::Value, Place> places;
  /// The number of the result that a value is stored in, if any.
  llvm::DenseMap<mlir::Value, unsigned> resultOf;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELPLACES_H
