#ifndef DPC_PASSES_SHARDEDUPDATES_STORAGEARGUMENTS_H
#define DPC_PASSES_SHARDEDUPDATES_STORAGEARGUMENTS_H

#include "dialects/Dist/IR/FlatStorage.h"
#include "passes/Buckets/BucketPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// The offsets of a bucket's tensors in flat storage, and the ranks that share the storage.
struct StoragePlace {
  mlir::StringRef mesh;
  mlir::ArrayAttr axes;
  /// The number of equal shards, one per rank, and the number of elements in all shards together.
  int64_t shards, elements;
  /// The offset of each member, in elements.
  llvm::SmallVector<int64_t> offsets;
  mlir::Type element;
  /// The type in which the readers read members. It differs from `element` if all readers convert
  /// the members to `readAs`. Then each rank first converts its shard, so that the gather moves
  /// elements of the narrow type.
  mlir::Type readAs;
  mlir::Location loc;

  /// The offsets of the members of `bucket`. All members have the element type `element`.
  StoragePlace(const Bucket &bucket, const BucketProblem &problem, mlir::StringRef mesh,
               mlir::ArrayAttr axes, mlir::Type element, mlir::Location loc);

  /// The types of the whole storage, of one rank's shard, and of the shards of all ranks, stacked
  /// along a new first dimension.
  mlir::RankedTensorType whole() const { return mlir::RankedTensorType::get({elements}, element); }
  mlir::RankedTensorType shard() const {
    return mlir::RankedTensorType::get({elements / shards}, element);
  }
  mlir::RankedTensorType stacked() const {
    return mlir::RankedTensorType::get({shards, elements / shards}, element);
  }
  /// The same offsets for elements of another type.
  StoragePlace withElement(mlir::Type type) const {
    StoragePlace place = *this;
    place.element = place.readAs = type;
    return place;
  }
  bool isConverted() const { return readAs != element; }

  /// Builds this rank's shard of `all`, a value that all ranks have.
  mlir::Value takeShard(mlir::OpBuilder &builder, mlir::Value all) const;
  /// Builds the whole storage by a gather of the shards of all ranks, in the type in which members
  /// are read.
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value shard) const;
};

/// Replaces arguments of the functions of `module` by flat storage. Each function with an argument
/// that is a member of the storage gets the storage as a new argument, and the readers of the
/// member read the member from the storage. Readers in `updates` are exceptions, because the caller
/// rewrites them. The old arguments of the members stay; the caller erases them.
///
/// Sharded storage is gathered before the ops that read it, in the body of a loop over microbatches
/// too. A function with a loss gathers it twice: before the first reader of a member in the forward
/// pass, and before the first other reader. Storage that is kept is gathered once for all readers.
class StorageArguments {
public:
  StorageArguments(mlir::ModuleOp module, const llvm::DenseSet<mlir::Operation *> &updates)
      : module(module), updates(updates) {}

  void add(dist::StorageAttr storage, const StoragePlace &place, bool isKept = false);

private:
  mlir::ModuleOp module;
  /// Looked up by key only, so that the order of the set has no effect.
  const llvm::DenseSet<mlir::Operation *> &updates;
};

/// Chooses the buckets that stay whole after they are gathered: as many as fit into `bytes`,
/// smallest first. The smallest buckets have the gathers that take the most time per byte, because
/// every gather has the same latency. Subtracts the size of the chosen buckets from `bytes`.
std::vector<bool> chooseKept(llvm::ArrayRef<Bucket> buckets, int64_t &bytes);

/// Makes a member attribute for argument `argument` of `function`. The member starts at element
/// `offset` of the storage.
dist::MemberAttr makeMember(mlir::func::FuncOp function, unsigned argument, int64_t offset);
/// Makes the attribute of a storage that has `members` (at least one) and is sharded over the mesh
/// axes named in `axes`.
dist::StorageAttr makeStorage(const llvm::Twine &name, llvm::ArrayRef<dist::MemberAttr> members,
                              mlir::ArrayAttr axes);
/// Erases each argument, of any function, whose binding (#nn.arg) is one of `bindings`.
void eraseArguments(mlir::ModuleOp module, const llvm::DenseSet<mlir::Attribute> &bindings);
/// Returns the argument of `function` that holds `storage`; null if there is none.
mlir::BlockArgument findStorage(mlir::func::FuncOp function, dist::StorageAttr storage);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_STORAGEARGUMENTS_H
