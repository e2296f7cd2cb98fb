// Finds the state that a program reads and never writes, and keeps it sharded in flat storage.

#include "passes/ShardedUpdates/ReadOnlyState.h"

#include "passes/ShardedUpdates/ReadTypes.h"
#include "passes/ShardedUpdates/StorageArguments.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dpc;

namespace {

/// A state, as the first function that takes it as an argument declares it.
struct Place {
  func::FuncOp function;
  unsigned argument;
  RankedTensorType type;
  /// The narrower type to which all readers convert the state. Null if there is no such type, e.g.
  /// because an op reads the state without a conversion.
  Type readAs;
};

} // namespace

/// The names of all states that a function of `module` returns.
static llvm::StringSet<> findWritten(ModuleOp module) {
  llvm::StringSet<> written;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (nn::ResultAttr result = nn::getResult(function, i))
        if (result.getKind() == nn::ResultKind::state)
          written.insert(result.getName());
  return written;
}

static llvm::MapVector<Attribute, Place> findReadOnly(ModuleOp module, ArrayRef<std::string> axes) {
  const llvm::StringSet<> written = findWritten(module);
  const BoundArguments arguments(module);
  llvm::MapVector<Attribute, Place> found;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      nn::ArgAttr arg = nn::getArg(function, i);
      if (!arg || written.contains(arg.getName()) ||
          (arg.getKind() != nn::ArgKind::parameter && arg.getKind() != nn::ArgKind::buffer))
        continue;
      Place place{function, i, cast<RankedTensorType>(function.getArgument(i).getType()), {}};
      auto layout =
          function.getArgAttrOfType<dist::LayoutAttr>(i, dist::DistDialect::kLayoutAttrName);
      if (!isa<FloatType>(place.type.getElementType()) || !layout)
        continue;
      const auto cut = dist::shardedAxes(layout.getLayout());
      if (llvm::any_of(axes, [&](StringRef axis) { return llvm::is_contained(cut, axis); }))
        continue;
      place.readAs = findReadType(arguments, arg, place.type.getElementType(),
                                  [](Operation *) { return false; });
      found.insert({arg, place});
    }
  return found;
}

LogicalResult dpc::cutReadOnlyState(ModuleOp module, ArrayRef<std::string> axes,
                                    ArrayRef<int64_t> limits, int64_t keepBytes) {
  const llvm::MapVector<Attribute, Place> state = findReadOnly(module, axes);
  SmallVector<StringRef> names(axes.begin(), axes.end());
  const int64_t shards = dist::groupSize(dist::getMeshShape(module), names);
  if (state.empty() || shards < 2)
    return success();
  BucketProblem problem;
  problem.limits.assign(limits.begin(), limits.end());
  for (const auto &[binding, place] : state) {
    BucketTensor tensor;
    tensor.elements = place.type.getNumElements();
    tensor.elementBytes = tensorBytes(place.type) / std::max<int64_t>(tensor.elements, 1);
    tensor.key.storageAxes = llvm::join(axes, ",");
    tensor.key.shards = shards;
    llvm::raw_string_ostream dtype(tensor.key.dtype);
    dtype << place.type.getElementType();
    if (place.readAs)
      dtype << " as " << place.readAs;
    problem.tensors.push_back(std::move(tensor));
  }
  llvm::Expected<BucketPlan> plan = assignBuckets(problem);
  llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
  if (error)
    return module.emitError("buckets: ") << llvm::toString(std::move(error));
  Builder builder(module.getContext());
  const llvm::DenseSet<Operation *> noUpdates;
  StorageArguments functions(module, noUpdates);
  // Looked up by key only, so that the order of the set has no effect.
  llvm::DenseSet<Attribute> bindings;
  const std::vector<bool> kept = chooseKept(plan->buckets, keepBytes);
  for (auto [number, bucket] : llvm::enumerate(plan->buckets)) {
    Place first = (state.begin() + bucket.members.front())->second;
    StoragePlace place(bucket, problem, dist::findMesh(module).getSymName(),
                       builder.getStrArrayAttr(names), first.type.getElementType(),
                       module.getLoc());
    if (first.readAs)
      place.readAs = first.readAs;
    SmallVector<dist::MemberAttr> members;
    for (auto [index, offset] : llvm::zip_equal(bucket.members, place.offsets)) {
      const auto &[binding, own] = *(state.begin() + index);
      bindings.insert(binding);
      members.push_back(makeMember(own.function, own.argument, offset));
    }
    functions.add(makeStorage("frozen." + Twine(number), members, place.axes), place, kept[number]);
  }
  eraseArguments(module, bindings);
  return success();
}
