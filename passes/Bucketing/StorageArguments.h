#ifndef DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H
#define DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H

#include "dialects/Dist/IR/FlatStorage.h"
#include "passes/Bucketing/BucketPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Where the tensors of a bucket lie in flat storage, and the ranks that share it.
struct StoragePlace {
  mlir::StringRef mesh;
  mlir::ArrayAttr axes;
  /// Equal parts, one a rank, and elements of all of them together.
  int64_t shards, elements;
  /// Of each member, in elements.
  llvm::SmallVector<int64_t> offsets;
  mlir::Type element;
  /// The type in which members are read: another one than `element` where all that read
  /// them convert them to it. Then shards are converted, and what is gathered has it.
  mlir::Type readAs;
  mlir::Location loc;

  /// The place of `bucket`'s members, of one element type.
  StoragePlace(const Bucket &bucket, const BucketProblem &problem, mlir::StringRef mesh,
               mlir::ArrayAttr axes, mlir::Type element, mlir::Location loc);

  /// Types of the whole storage, of a rank's shard, and of all shards side by side.
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

  /// This rank's shard of `all`, which all ranks have.
  mlir::Value takeShard(mlir::OpBuilder &builder, mlir::Value all) const;
  /// The whole storage, of the shards of all ranks, in the type in which it is read.
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value shard) const;
};

/// Puts storage in the place of the arguments that are its members, in every function of
/// `module`. What reads a member, all ops but `updates`, reads it from the storage. Cut
/// storage is gathered for that where it is read, in the body of a loop over microbatches
/// too; twice where there is a loss: where the forward pass first reads a member, and where
/// anything else does. Or, where it is kept, once for all. The members' arguments stay, for
/// the caller to erase.
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

/// Which buckets are kept whole once they are gathered: as many as `bytes` holds, those first
/// whose gathers take the most time a byte. These are the small ones: each has the latency
/// of one. What is kept is taken from `bytes`.
std::vector<bool> chooseKept(llvm::ArrayRef<Bucket> buckets, int64_t &bytes);

/// Argument `argument` of `function` as a member that starts `offset` elements in.
dist::MemberAttr makeMember(mlir::func::FuncOp function, unsigned argument, int64_t offset);
/// Storage of `members`, not none, cut over `axes` (names).
dist::StorageAttr makeStorage(const llvm::Twine &name, llvm::ArrayRef<dist::MemberAttr> members,
                              mlir::ArrayAttr axes);
/// Removes the arguments of all functions that are one of `bindings` (#nn.arg).
void eraseArguments(mlir::ModuleOp module, const llvm::DenseSet<mlir::Attribute> &bindings);
/// The argument of `function` that is `storage`.
mlir::BlockArgument findStorage(mlir::func::FuncOp function, dist::StorageAttr storage);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_STORAGEARGUMENTS_H
