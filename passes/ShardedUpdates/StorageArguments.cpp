// Replaces function arguments that hold tensors of state by function arguments that hold flat
// storage.

#include "passes/ShardedUpdates/StorageArguments.h"

#include "passes/Forward/ForwardPass.h"

#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;

StoragePlace::StoragePlace(const Bucket &bucket, const BucketProblem &problem, StringRef mesh,
                           ArrayAttr axes, Type element, Location loc)
    : mesh(mesh), axes(axes), element(element), readAs(element), loc(loc) {
  const BucketTensor &first = problem.tensors[bucket.members.front()];
  shards = first.key.shards;
  elements = bucket.bytes / first.elementBytes;
  for (int64_t offset : bucket.offsets)
    offsets.push_back(offset / first.elementBytes);
}

Value StoragePlace::takeShard(OpBuilder &builder, Value all) const {
  return builder.create<dist::ShardOp>(loc, shard(), all, mesh, axes);
}

Value StoragePlace::gather(OpBuilder &builder, Value shard) const {
  shard = nn::Expressions{builder, loc}.convert(shard, readAs);
  const StoragePlace read = withElement(readAs);
  Value all = builder.create<dist::AllGatherOp>(loc, read.stacked(), shard, mesh, axes);
  return builder.create<nn::ReshapeOp>(loc, read.whole(), all);
}

namespace {

/// The members of one storage in one block, which is the body of a function or of a loop. Each
/// member is the block argument that holds the tensor; null if the block has no such argument.
using Members = SmallVector<BlockArgument>;

/// Makes the ops of a block read the members from the storage instead of from block arguments.
class StorageReads {
public:
  StorageReads(dist::StorageAttr storage, const StoragePlace &place,
               const llvm::DenseSet<Operation *> &updates)
      : storage(storage), place(place), updates(updates) {}

  /// Makes all readers read the members from `whole`, the whole storage.
  void replaceByViews(const Members &members, Value whole) const {
    OpBuilder entry(place.element.getContext());
    entry.setInsertionPointAfterValue(whole);
    replace(entry, members, whole, [](Operation *) { return true; });
  }

  /// Makes all readers read the members from gathers of `shard`. One gather comes before the first
  /// reader in the forward pass, and a second one before the first reader outside of the forward
  /// pass.
  void replaceByGathers(const Members &members, Value shard, const Ancestors &forward) const {
    enterLoops(members, shard, forward);
    for (BlockArgument member : members)
      if (member)
        for (Operation *user : llvm::make_early_inc_range(member.getUsers()))
          splitFree(user, forward);
    for (bool isForward : {true, false})
      gatherFor(members, shard,
                [&](Operation *op) { return forward.ops.contains(op) == isForward; });
  }

  /// Makes all readers read the members from one gather of `shard`, before the first reader.
  void replaceByOneGather(const Members &members, Value shard) const {
    gatherFor(members, shard, [](Operation *) { return true; });
  }

private:
  using OpFilter = llvm::function_ref<bool(Operation *)>;

  /// Splits a broadcast, a view or a conversion to the gathered type into one op for the forward
  /// pass and one for the backward pass. Otherwise the backward pass would read the result of the
  /// forward pass, and thereby keep the gathered storage of the forward pass alive. The split is
  /// cheap, because broadcasts and views take no memory of their own.
  void splitFree(Operation *op, const Ancestors &forward) const {
    const FusionKind kind = getFusionKind(op);
    const bool isConversion = place.isConverted() && nn::isConversion(op);
    if (!forward.ops.contains(op) ||
        (kind != FusionKind::repeated && kind != FusionKind::view && !isConversion))
      return;
    Operation *first = nullptr;
    SmallVector<OpOperand *> uses;
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      splitFree(user, forward);
    for (OpOperand &use : op->getUses()) {
      Operation *reader = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (forward.ops.contains(reader) || reader->hasTrait<OpTrait::IsTerminator>())
        continue;
      uses.push_back(&use);
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
    }
    if (!first)
      return;
    Operation *copy = OpBuilder(first).clone(*op);
    for (OpOperand *use : uses)
      use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
  }

  void gatherFor(const Members &members, Value shard, OpFilter isPart) const {
    Operation *reader = findReader(members, isPart);
    if (!reader)
      return;
    OpBuilder entry(reader);
    replace(entry, members, place.gather(entry, shard), isPart);
  }

  /// Adds the gathers to the bodies of the loops that take a member as a `whole` operand, which is
  /// the same in every iteration.
  void enterLoops(const Members &members, Value shard, const Ancestors &forward) const {
    llvm::SmallSetVector<Operation *, 2> loops;
    for (BlockArgument member : members)
      if (member)
        for (Operation *user : member.getUsers())
          if (isa<dist::MicroOp>(user))
            loops.insert(user);
    for (Operation *op : loops) {
      auto loop = cast<dist::MicroOp>(op);
      Members inside;
      for (BlockArgument member : members) {
        inside.push_back({});
        for (auto [index, input] : llvm::enumerate(loop.getInputs()))
          if (member && input == member && loop.getOperandKind(index) == dist::MicroKind::whole)
            inside.back() = loop.getBodyBlock().getArgument(index);
      }
      replaceByGathers(inside, dist::addWholeInput(loop, shard), Ancestors(loop, forward));
      dist::eraseUnreadInputs(loop);
    }
  }

  /// Replaces each member by its slice of `whole`, for the readers for which `isPart` is true.
  void replace(OpBuilder &entry, const Members &members, Value whole, OpFilter isPart) const {
    SmallVector<Type> types;
    for (dist::MemberAttr member : storage.getMembers())
      types.push_back(cast<RankedTensorType>(member.getType().getValue())
                          .clone(getElementTypeOrSelf(whole.getType())));
    auto unpack = entry.create<dist::UnpackOp>(place.loc, types, whole, place.offsets);
    for (auto [index, member] : llvm::enumerate(members)) {
      if (!member)
        continue;
      auto isRead = [&](OpOperand &use) {
        Operation *op = entry.getInsertionBlock()->findAncestorOpInBlock(*use.getOwner());
        return !updates.contains(op) && isPart(op);
      };
      if (place.isConverted())
        replaceConversions(member, unpack.getResult(index), isRead);
      else
        Value(member).replaceUsesWithIf(unpack.getResult(index), isRead);
    }
  }

  /// `converted` is `member`, already converted. Some readers convert `member`, others look up rows
  /// in it and convert these. Removes the conversions: their users read `converted`, or rows that
  /// are looked up in it. Follows `member` into the bodies of loops that take it as a `whole`
  /// operand.
  static void replaceConversions(BlockArgument member, Value converted,
                                 llvm::function_ref<bool(OpOperand &)> isRead) {
    SmallVector<std::pair<Operation *, unsigned>> reads;
    for (OpOperand &use : member.getUses())
      if (isRead(use))
        reads.push_back({use.getOwner(), use.getOperandNumber()});
    for (auto [op, number] : reads) {
      if (auto loop = dyn_cast<dist::MicroOp>(op)) {
        BlockArgument inside = loop.getBodyBlock().getArgument(number);
        replaceConversions(inside, dist::addWholeInput(loop, converted),
                           [](OpOperand &) { return true; });
        dist::eraseUnreadInputs(loop);
        continue;
      }
      replaceConversion(op, converted);
    }
  }

  /// Makes `op` read `converted` instead of a member. `op` is a conversion, a lookup of rows, or an
  /// `nn.after`. A conversion is erased. The result of a lookup or `nn.after` changes its type, and
  /// the conversions of this result are erased.
  static void replaceConversion(Operation *op, Value converted) {
    if (nn::isConversion(op)) {
      op->getResult(0).replaceAllUsesWith(converted);
      op->erase();
      return;
    }
    op->setOperand(0, converted);
    Value read = op->getResult(0);
    read.setType(nn::typeOf(read).clone(getElementTypeOrSelf(converted)));
    for (Operation *user : llvm::make_early_inc_range(read.getUsers()))
      replaceConversion(user, read);
  }

  /// The first op of the block that reads one of `members`, directly or within its regions, and for
  /// which `isPart` is true; null if there is none.
  Operation *findReader(const Members &members, OpFilter isPart) const {
    Operation *reader = nullptr;
    for (BlockArgument member : members) {
      if (!member)
        continue;
      for (Operation *user : member.getUsers()) {
        Operation *op = member.getOwner()->findAncestorOpInBlock(*user);
        if (!updates.contains(op) && isPart(op) && (!reader || op->isBeforeInBlock(reader)))
          reader = op;
      }
    }
    return reader;
  }

  dist::StorageAttr storage;
  const StoragePlace &place;
  /// Looked up by key only, so that the order of the set has no effect.
  const llvm::DenseSet<Operation *> &updates;
};

} // namespace

/// The arguments of `function` that hold the members of `storage`, in the order of the members.
/// Null for a member that the function does not take as an argument.
static Members findMembers(func::FuncOp function, dist::StorageAttr storage) {
  llvm::DenseMap<Attribute, BlockArgument> byBinding;
  for (BlockArgument argument : function.getArguments())
    if (nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber()))
      byBinding[arg] = argument;
  Members arguments;
  for (dist::MemberAttr member : storage.getMembers())
    arguments.push_back(byBinding.lookup(member.getBinding()));
  return arguments;
}

void StorageArguments::add(dist::StorageAttr storage, const StoragePlace &place, bool isKept) {
  const bool isCut = !storage.getAxes().empty();
  Builder builder(module.getContext());
  DictionaryAttr attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(dist::DistDialect::kStorageAttrName, storage));
  const StorageReads reads(storage, place, updates);
  for (auto function : module.getOps<func::FuncOp>()) {
    const Members members = findMembers(function, storage);
    if (llvm::none_of(members, [](BlockArgument member) { return bool(member); }))
      continue;
    function.insertArgument(function.getNumArguments(), isCut ? place.shard() : place.whole(),
                            attributes, place.loc);
    Value argument = function.getArguments().back();
    if (!isCut)
      reads.replaceByViews(members, argument);
    else if (isKept)
      reads.replaceByOneGather(members, argument);
    else
      reads.replaceByGathers(members, argument, findForwardPass(function));
  }
}

std::vector<bool> dpc::chooseKept(ArrayRef<Bucket> buckets, int64_t &bytes) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, buckets.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return buckets[a].bytes < buckets[b].bytes; });
  std::vector<bool> kept(buckets.size());
  for (size_t bucket : order) {
    if (buckets[bucket].bytes > bytes)
      break;
    bytes -= buckets[bucket].bytes;
    kept[bucket] = true;
  }
  return kept;
}

dist::MemberAttr dpc::makeMember(func::FuncOp function, unsigned argument, int64_t offset) {
  return dist::MemberAttr::get(
      function.getContext(), nn::getArg(function, argument),
      function.getArgAttrOfType<dist::LayoutAttr>(argument, dist::DistDialect::kLayoutAttrName),
      TypeAttr::get(function.getArgumentTypes()[argument]), offset);
}

dist::StorageAttr dpc::makeStorage(const Twine &name, ArrayRef<dist::MemberAttr> members,
                                   ArrayAttr axes) {
  MLIRContext *context = members.front().getContext();
  const auto names = llvm::to_vector(axes.getAsRange<StringAttr>());
  return dist::StorageAttr::get(context, StringAttr::get(context, name), members, names);
}

void dpc::eraseArguments(ModuleOp module, const llvm::DenseSet<Attribute> &bindings) {
  for (auto function : module.getOps<func::FuncOp>()) {
    BitVector arguments(function.getNumArguments());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (nn::ArgAttr arg = nn::getArg(function, i))
        if (bindings.contains(arg))
          arguments.set(i);
    function.eraseArguments(arguments);
  }
}

BlockArgument dpc::findStorage(func::FuncOp function, dist::StorageAttr storage) {
  for (BlockArgument argument : function.getArguments())
    if (dist::getArgStorage(function, argument.getArgNumber()) == storage)
      return argument;
  return {};
}
