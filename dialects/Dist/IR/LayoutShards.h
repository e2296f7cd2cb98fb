// The elements of a tensor that a device has.
//
// A shard is described by runs: indices that are consecutive both in the logical
// tensor and in the shard. Buffers are dense and row-major; offsets and counts are
// in elements.

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

/// Local indices [local, local + count) are global indices [global, global +
/// count).
struct IndexRun {
  int64_t global = 0;
  int64_t local = 0;
  int64_t count = 0;

  bool operator==(const IndexRun &other) const {
    return global == other.global && local == other.local && count == other.count;
  }
};

/// The runs of `dim` on the device at `coordinates`, in ascending order of `local`
/// and as long as possible. Local indices in no run are padding.
std::vector<IndexRun> localRuns(const DimLayout &dim, llvm::ArrayRef<int64_t> coordinates,
                                const MeshShape &mesh);

/// Calls `fn(globalOffset, localOffset, count)` for every run of the tensor's
/// shard, in ascending order of `localOffset` and as long as possible. Local
/// elements in no run are padding.
void forEachRun(const Layout &layout, llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh,
                llvm::function_ref<void(int64_t, int64_t, int64_t)> fn);

/// Fills `local` with the shard of the device at `coordinates` from the tensor
/// `global`. `local` has localShape(layout) elements of `elementBytes` bytes,
/// `global` has layout.shape() elements. Padding becomes zero bytes.
void copyToLocal(const void *global, void *local, int64_t elementBytes, const Layout &layout,
                 llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh);

/// Copies the elements that the device at `coordinates` has to their places in
/// `global`. Padding is ignored, and other elements of `global` are not changed.
void copyToGlobal(const void *local, void *global, int64_t elementBytes, const Layout &layout,
                  llvm::ArrayRef<int64_t> coordinates, const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTSHARDS_H
