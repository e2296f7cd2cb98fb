// Gives functions flat storage in the place of the tensors that lie in it.

#include "passes/Bucketing/StorageArguments.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;

StoragePlace::StoragePlace(const Bucket &bucket, const BucketProblem &problem, StringRef mesh,
                           ArrayAttr axes, Type element, Location loc)
    : mesh(mesh), axes(axes), element(element), loc(loc) {
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
  Value all = builder.create<dist::AllGatherOp>(loc, stacked(), shard, mesh, axes);
  return builder.create<nn::ReshapeOp>(loc, whole(), all);
}

/// The arguments of `function` that are the members of `storage`, in their order; none
/// if it takes none of them.
static SmallVector<BlockArgument> findMembers(func::FuncOp function, dist::StorageAttr storage) {
  llvm::DenseMap<Attribute, BlockArgument> byBinding;
  for (BlockArgument argument : function.getArguments())
    if (nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber()))
      byBinding[arg] = argument;
  SmallVector<BlockArgument> arguments;
  for (dist::MemberAttr member : storage.getMembers())
    if (BlockArgument argument = byBinding.lookup(member.getBinding()))
      arguments.push_back(argument);
  return arguments;
}

/// The ops of the body that the metric `loss` depends on; none without it. To be looked
/// up by key only.
static llvm::DenseSet<Operation *> findForward(func::FuncOp function) {
  llvm::DenseSet<Operation *> forward;
  SmallVector<Value> waiting;
  for (OpOperand &result : function.front().getTerminator()->getOpOperands())
    if (nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
        attr && attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss")
      waiting.push_back(result.get());
  while (!waiting.empty()) {
    Operation *op = waiting.pop_back_val().getDefiningOp();
    if (op && forward.insert(op).second)
      llvm::append_range(waiting, op->getOperands());
  }
  return forward;
}

/// Takes the members out of `whole` for those readers that `isPart` is true of.
void StorageArguments::replaceReads(OpBuilder &entry, ArrayRef<BlockArgument> members, Value whole,
                                    const StoragePlace &place, OpFilter isPart) const {
  SmallVector<Type> types;
  for (BlockArgument member : members)
    types.push_back(member.getType());
  auto unpack = entry.create<dist::UnpackOp>(place.loc, types, whole, place.offsets);
  for (auto [index, member] : llvm::enumerate(members)) {
    Value read = member;
    read.replaceUsesWithIf(unpack.getResult(index), [&](OpOperand &use) {
      Operation *op = entry.getInsertionBlock()->findAncestorOpInBlock(*use.getOwner());
      return !updates.contains(op) && isPart(op);
    });
  }
}

/// The first op of the body that `isPart` is true of and that reads one of `members`,
/// itself or within its regions; null if none does.
Operation *StorageArguments::findReader(ArrayRef<BlockArgument> members, OpFilter isPart) const {
  Operation *reader = nullptr;
  for (BlockArgument member : members)
    for (Operation *user : member.getUsers()) {
      Operation *op = member.getOwner()->findAncestorOpInBlock(*user);
      if (!updates.contains(op) && isPart(op) && (!reader || op->isBeforeInBlock(reader)))
        reader = op;
    }
  return reader;
}

void StorageArguments::add(dist::StorageAttr storage, const StoragePlace &place) {
  const bool isCut = !storage.getAxes().empty();
  Builder builder(module.getContext());
  DictionaryAttr attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(dist::DistDialect::kStorageAttrName, storage));
  for (auto function : module.getOps<func::FuncOp>()) {
    const SmallVector<BlockArgument> members = findMembers(function, storage);
    if (members.empty())
      continue;
    function.insertArgument(function.getNumArguments(), isCut ? place.shard() : place.whole(),
                            attributes, place.loc);
    Value argument = function.getArguments().back();
    if (!isCut) {
      OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
      replaceReads(entry, members, argument, place, [](Operation *) { return true; });
      continue;
    }
    const llvm::DenseSet<Operation *> forward = findForward(function);
    for (bool isForward : {true, false}) {
      auto isPart = [&](Operation *op) { return forward.contains(op) == isForward; };
      Operation *reader = findReader(members, isPart);
      if (!reader)
        continue;
      OpBuilder entry(reader);
      replaceReads(entry, members, place.gather(entry, argument), place, isPart);
    }
  }
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
