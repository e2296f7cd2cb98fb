// Finds the elements of a tensor that one device has, and copies them from and to
// the logical tensor.
//
// A shard is described by runs. A run is a sequence of indices that are
// consecutive both in the logical tensor and in the shard. Buffers are dense and
// in row-major order. Offsets and counts are in elements.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTSHARDS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTSHARDS_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc::dist {

/// The indices of one factor that a device has. Local index i in [0, count) is
/// global index offset + i; local indices in [count, size) are padding.
struct FactorRange {
  int64_t offset = 0;
  int64_t count = 0;
  int64_t size = 0;
};

FactorRange localRange(const Factor &factor, llvm::ArrayRef<int64_t> coordinates,
                       const MeshShape &mesh);

/// One run: the local indices [local, local + count) are the global indices
/// [global, global + count).
struct IndexRun {
  int64_t global = 0;
  int64_t local = 0;
  int64_t count = 0;

  bool operator==(const IndexRun &other) const {
    return global == other.global && local == other.local && count == other.count;
  }
};

/// The runs of `dim` on the device at `coordinates`, in ascending order of
/// `local`. Each run is as long as possible. Local indices that are in no run are
/// padding.
std::vector<IndexRun> localRuns(const DimLayout &dim, llvm::ArrayRef<int64_t> coordinates,
                                const MeshShape &mesh);

/// Calls `fn(globalOffset, localOffset, count)` for every run of the shard of the
/// device at `coordinates`, in ascending order of `localOffset`. Each run is as
/// long as possible. Elements of the shard that are in no run are padding.
void forEachRun(const Layout &layout, llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh,
                llvm::function_ref<void(int64_t, int64_t, int64_t)> fn);

/// Copies the shard of the device at `coordinates` from the logical tensor
/// `global` to `local`, and fills padding with zero bytes. `local` has the shape
/// localShape(layout), and `global` has the shape layout.shape(). Each element has
/// `elementBytes` bytes.
void copyToLocal(const void *global, void *local, int64_t elementBytes, const Layout &layout,
                 llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh);

/// Copies the shard `local` of the device at `coordinates` to the logical tensor
/// `global`, without padding. Elements of `global` that the device does not have
/// stay unchanged.
void copyToGlobal(const void *local, void *global, int64_t elementBytes, const Layout &layout,
                  llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTSHARDS_H
