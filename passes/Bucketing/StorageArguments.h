#ifndef DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H
#define DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H

#include "dialects/Dist/IR/FlatStorage.h"
#include "passes/Bucketing/BucketPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Where the tensors of a bucket lie in flat storage, and which ranks share the storage.
struct StoragePlace {
  mlir::StringRef mesh;
  mlir::ArrayAttr axes;
  /// The number of equal shards, one per rank, and the number of elements of all shards together.
  int64_t shards, elements;
  /// The offset of each member, in elements.
  llvm::SmallVector<int64_t> offsets;
  mlir::Type element;
  /// The type in which members are read. It differs from `element` if all readers convert the
  /// members to it. Then each shard is converted first, and the gather moves elements of this type.
  mlir::Type readAs;
  mlir::Location loc;

  /// The place of the members of `bucket`, which have one element type.
  StoragePlace(const Bucket &bucket, const BucketProblem &problem, mlir::StringRef mesh,
               mlir::ArrayAttr axes, mlir::Type element, mlir::Location loc);

  /// The types of the whole storage, of one rank's shard, and of all shards stacked in a new first
  /// dimension.
  mlir::RankedTensorType whole() const { return mlir::RankedTensorType::get({elements}, element); }
  mlir::RankedTensorType shard() const {
    return mlir::RankedTensorType::get({elements / shards}, element);
  }
  mlir::RankedTensorType stacked() const {
    return mlir::RankedTensorType::get({shards, elements / shards}, element);
  }
  /// The same place for elements of another type.
  StoragePlace withElement(mlir::Type type) const {
    StoragePlace place = *this;
    place.element = place.readAs = type;
    return place;
  }
  bool isConverted() const { return readAs != element; }

  /// This rank's shard of `all`, a value that all ranks have.
  mlir::Value takeShard(mlir::OpBuilder &builder, mlir::Value all) const;
  /// The whole storage, gathered from the shards of all ranks, in the type in which members are
  /// read.
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value shard) const;
};

/// Gives every function of `module` flat storage as an argument, instead of the arguments that are
/// its members. All readers of a member, except `updates`, then read it from the storage. Sharded
/// storage is gathered before it is read, in the body of a loop over microbatches too. A function
/// with a loss gathers it twice: before the forward pass first reads a member, and before another
/// op first does. Storage that is kept is gathered once for all readers. The arguments of the
/// members stay; the caller erases them.
class StorageArguments {
public:
  StorageArguments(mlir::ModuleOp module, const llvm::DenseSet<mlir::Operation *> &updates)
      : module(module), updates(updates) {}

  void add(dist::StorageAttr storage, const StoragePlace &place, bool isKept = false);

private:
  mlir::ModuleOp module;
  /// Looked up by key only: their order never shows.
  const llvm::DenseSet<mlir::Operation *> &updates;
};

/// Chooses the buckets that stay whole after they are gathered: as many as fit into `bytes`,
/// beginning with those whose gathers take the most time per byte. These are the smallest buckets,
/// because every gather has the same latency. Subtracts the size of the chosen buckets from
/// `bytes`.
std::vector<bool> chooseKept(llvm::ArrayRef<Bucket> buckets, int64_t &bytes);

/// Argument `argument` of `function` as a member that starts at element `offset` of the storage.
dist::MemberAttr makeMember(mlir::func::FuncOp function, unsigned argument, int64_t offset);
/// Storage of `members`, which must not be empty, sharded over the mesh axes named in `axes`.
dist::StorageAttr makeStorage(const llvm::Twine &name, llvm::ArrayRef<dist::MemberAttr> members,
                              mlir::ArrayAttr axes);
/// Removes the arguments of all functions whose binding (#nn.arg) is one of `bindings`.
void eraseArguments(mlir::ModuleOp module, const llvm::DenseSet<mlir::Attribute> &bindings);
/// The argument of `function` that holds `storage`; null if there is none.
mlir::BlockArgument findStorage(mlir::func::FuncOp function, dist::StorageAttr storage);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H
