#ifndef DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H
#define DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H

#include "targets/CPU/Vectors/TileGrid.h"

namespace dpc::nn {

/// The facts about a matrix product C = A B that decide how it is blocked.
struct ProductShape {
  mlir::Type factorType, resultType; ///< of A and B, of C
  int64_t rows, columns, depth;      // C is rows x columns
  /// Whether the factors are matrices in memory, and whether neighbours in a row of B are
  /// neighbours in memory.
  bool hasA, hasB, hasRowsOfB;
  /// Whether C is stored.
  bool isStored;
};

/// Block sizes: `rows` rows of A, `depth` points deep, are packed at a time. A point is
/// one element along the depth, or a pair of them.
struct ProductBlocks {
  ProductBlocks(const ProductShape &product, const VectorUnit &unit);

  VectorFormat format; // of the sums
  /// Whether factors are packed in pairs, and whether C is narrower than the sums.
  bool inPairs, isNarrowed;
  int64_t points; // along the depth of the product
  Panels panels;  // of B
  int64_t tileRows, depth, rows;
  /// Whether a complete block of B is packed before its tiles are computed, not
  /// each panel before its own.
  bool packsAhead;
  bool packsA, packsB;

  /// Numbers of elements of the packed factors.
  int64_t countOfA() const;
  int64_t countOfB() const;
  /// Whether scratch memory holds sums of C: of all of C, or of one tile.
  bool keepsSums() const { return !(isStored && (!isNarrowed || !sumsAreWhole())); }
  bool sumsAreWhole() const { return points > depth; }
  int64_t columnsOfSums() const { return sumsAreWhole() ? columns : panels.width; }
  int64_t countOfSums() const { return (sumsAreWhole() ? allRows : tileRows) * columnsOfSums(); }
  /// Number of pairs of a height and a width of tiles of C that have their own code.
  int64_t countTileKinds() const;
  /// The scratch memory of the product, in the order in which it is taken.
  ScratchSizes getScratch() const {
    const int64_t none = VectorFormat::kNone;
    return format.bytesOf({packsA ? countOfA() : none, packsB ? countOfB() : none,
                           keepsSums() ? countOfSums() : none});
  }

private:
  int64_t allRows, columns; // of C
  bool isStored;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H
