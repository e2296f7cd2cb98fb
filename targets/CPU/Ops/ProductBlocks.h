#ifndef DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H
#define DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H

#include "targets/CPU/Vectors/TileGrid.h"

namespace dpc {

/// The facts about a matrix product C = A B on which its block sizes depend.
struct ProductShape {
  mlir::Type factorType, resultType; ///< element types of A and B, and of C
  int64_t rows, columns, depth;      // C is rows x columns
  /// Whether A and B are matrices in memory, and whether the elements of a row of B are
  /// contiguous.
  bool hasA, hasB, hasRowsOfB;
  /// Whether C is stored.
  bool isStored;
};

/// The sizes of blocks. A block of A has `rows` rows and `depth` points. If A is packed,
/// it is packed block by block. A point is one element along the depth, or a pair of them.
struct ProductBlocks {
  ProductBlocks(const ProductShape &product, const VectorUnit &unit);

  VectorFormat format; // the vectors of sums
  /// Whether factors are packed in pairs of bf16, and whether C has a narrower type than
  /// the sums.
  bool inPairs, isNarrowed;
  int64_t points; // number of points along the depth
  Panels panels;  // the panels of B
  int64_t tileRows, depth, rows;
  /// Whether all panels of a block of B are packed before the first tile is computed.
  /// Otherwise each panel is packed just before the tiles that read it.
  bool packsAhead;
  bool packsA, packsB;

  /// The numbers of elements of the memory for packed A and for packed B: one block of A;
  /// one block of B, or one panel of B if `packsAhead` is false.
  int64_t countOfA() const;
  int64_t countOfB() const;
  /// Whether sums of C are kept in scratch memory. If so, sumsAreWhole() says whether
  /// this memory has the sums of all of C, or only of one tile.
  bool keepsSums() const { return !(isStored && (!isNarrowed || !sumsAreWhole())); }
  bool sumsAreWhole() const { return points > depth; }
  int64_t columnsOfSums() const { return sumsAreWhole() ? columns : panels.width; }
  int64_t countOfSums() const { return (sumsAreWhole() ? allRows : tileRows) * columnsOfSums(); }
  /// The number of separate pieces of code for final tiles of C. Each height and width of
  /// tiles has its own piece. If the last block of rows is smaller than the others, its
  /// tiles have pieces of their own.
  int64_t countTileKinds() const;
  /// The sizes of the pieces of scratch memory, in the order in which the code of the
  /// product takes them.
  ScratchSizes getScratch() const {
    const int64_t none = VectorFormat::kNone;
    return format.bytesOf({packsA ? countOfA() : none, packsB ? countOfB() : none,
                           keepsSums() ? countOfSums() : none});
  }

private:
  int64_t allRows, columns; // of C
  bool isStored;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_PRODUCTBLOCKS_H
