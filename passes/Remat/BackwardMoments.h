#ifndef DPC_PASSES_REMAT_BACKWARDMOMENTS_H
#define DPC_PASSES_REMAT_BACKWARDMOMENTS_H

#include "dialects/Dist/IR/MeshShape.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// Whether the results of `op` take no memory of their own: `op` is a view, or each kernel that
/// reads the result computes it anew, as it does a constant. Such an op is repeated for each
/// reader.
bool isFree(mlir::Operation *op);

/// Whether a tensor has a rank above 0, that is, holds more than a single number.
bool hasRank(mlir::Type type);

/// Whether `op`, an op of the backward pass, can run as soon as its operands exist, wherever it
/// stands in the program. This holds if `op` moves data, reduces, or computes element by element,
/// and if its operands come from the backward pass alone (`isBackward`); single numbers and
/// constants may come from elsewhere. An op that reads a value of the forward pass runs at its
/// place in the program: if that value is rematerialized, it does not exist earlier.
bool runsAtOnce(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isBackward);

/// How gradients will be divided among ranks after the ranks have summed them.
struct GradientDivision {
  bool divides = false;
  /// The mesh axes over which gradients are divided, with their sizes. If there are none, each
  /// gradient is divided over the axes over which it is summed.
  dist::MeshShape axes;

  /// The number of ranks among which the result of `op` is divided. It is 1 unless `op` is an
  /// all-reduce whose result an update reads.
  int64_t partsOf(mlir::Operation *op) const;
};

/// When the ops of a backward pass run, and the bytes that the pass keeps at each of these moments.
/// The program lists updates, and sums over ranks, after the rest of the backward pass, but in the
/// end each of them runs as soon as its gradient exists. Moments therefore follow the order of the
/// program, except that an update, and an op that runs at once (`runsAtOnce`), comes directly after
/// its operands.
class BackwardMoments {
public:
  /// `backward` holds the ops of the backward pass in `block`, in program order.
  BackwardMoments(mlir::Block &block, std::vector<mlir::Operation *> backward);

  /// The ops of the backward pass, in program order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return backward; }
  bool contains(mlir::Operation *op) const { return momentOf.contains(op); }
  /// The moment at which `op` runs; `op` must be an op of the backward pass.
  int64_t of(mlir::Operation *op) const { return momentOf.lookup(op); }

  /// The bytes that the backward pass itself keeps at each moment. Each result counts until its
  /// last reader. An update reads all its operands when the last of them exists. A gradient that a
  /// loop sums over microbatches is added to the sum at once; the sum takes its memory outside of
  /// the loop. The new value of a state takes the memory of the old value. If a gradient will be
  /// divided, only the rank's part of it counts.
  std::vector<int64_t> countBytes(const GradientDivision &division) const;

private:
  int64_t lastUseOf(mlir::Value value) const;

  mlir::Block &block;
  std::vector<mlir::Operation *> backward;
  llvm::DenseMap<mlir::Operation *, int64_t> momentOf;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_BACKWARDMOMENTS_H
