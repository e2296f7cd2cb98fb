// Collects the tensors that a program shares with the host, and the layout of each tensor on the
// mesh.

#include "passes/Explain/Boundary.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/NN/IR/HostFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using nn::ArgAttr;
using nn::ArgKind;

std::string dpc::typeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType() << '[';
  llvm::interleaveComma(type.getShape(), os);
  os << ']';
  return text;
}

StringRef dpc::kindText(ArgKind kind) {
  switch (kind) {
  case ArgKind::parameter:
    return "parameter";
  case ArgKind::buffer:
    return "buffer";
  case ArgKind::constant:
    return "frozen";
  case ArgKind::optimizer:
    return "optimizer state";
  case ArgKind::input:
    return "input";
  case ArgKind::label:
    return "label";
  case ArgKind::control:
    return "control";
  }
  return "";
}

std::string BoundaryTensor::layoutText() const {
  std::string text = "whole on each rank";
  if (layout && !dist::isReplicated(layout.getLayout()))
    text = dist::toString(layout.getLayout());
  if (!storageAxes.empty())
    text += ", divided over " + llvm::join(storageAxes, "+");
  return text;
}

namespace {

/// Collects tensors. If several functions or buffers name one tensor, only the first of them adds
/// it.
class Collector {
public:
  explicit Collector(ModuleOp module) : mesh(dist::getMeshShape(module)) {}

  void add(BoundaryTensor tensor) {
    if (seen.insert((tensor.isOutput ? "output " : "") + tensor.name).second)
      tensors.push_back(std::move(tensor));
  }
  void add(ArgAttr arg, RankedTensorType type, dist::LayoutAttr layout,
           std::vector<std::string> storageAxes = {}) {
    if (arg.getKind() == ArgKind::control)
      return;
    BoundaryTensor tensor;
    tensor.name = arg.getName().str();
    tensor.kind = arg.getKind();
    tensor.isLabel = arg.getKind() == ArgKind::label;
    tensor.batch = arg.getBatch();
    tensor.storageAxes = std::move(storageAxes);
    setType(tensor, type, layout);
    add(std::move(tensor));
  }
  void add(nn::ResultAttr result, RankedTensorType type, dist::LayoutAttr layout,
           IntegerAttr batch) {
    if (result.getKind() != nn::ResultKind::output)
      return;
    BoundaryTensor tensor;
    tensor.name = result.getName().str();
    tensor.isOutput = true;
    tensor.batch = batch ? batch.getInt() : -1;
    setType(tensor, type, layout);
    add(std::move(tensor));
  }

  std::vector<BoundaryTensor> tensors;

private:
  /// Sets the logical type of `tensor` and its bytes per rank. Depending on the level, `type` is
  /// the logical type or the type of a rank's shard. A layout, if there is one, has the logical
  /// shape.
  void setType(BoundaryTensor &tensor, RankedTensorType type, dist::LayoutAttr layout) const {
    tensor.layout = layout;
    tensor.type = type;
    RankedTensorType local = type;
    if (layout) {
      tensor.type = nn::withShape(type, layout.getLayout().shape());
      local = nn::withShape(type, dist::localShape(layout.getLayout(), mesh));
    }
    SmallVector<StringRef> axes(tensor.storageAxes.begin(), tensor.storageAxes.end());
    tensor.bytesOfRank = tensorBytes(local) / dist::groupSize(mesh, axes);
  }

  dist::MeshShape mesh;
  llvm::StringSet<> seen;
};

} // namespace

static void collectResidents(ModuleOp program, Collector &collector) {
  for (auto persistent : program.getOps<PersistentOp>()) {
    auto layout = dyn_cast_or_null<dist::LayoutAttr>(persistent.getLayoutAttr());
    RankedTensorType type = tensorOf(persistent.getType());
    if (auto arg = dyn_cast<ArgAttr>(persistent.getBinding()))
      collector.add(arg, type, layout);
    else if (auto result = dyn_cast<nn::ResultAttr>(persistent.getBinding()))
      collector.add(result, type, layout,
                    persistent->getAttrOfType<IntegerAttr>(nn::kBatchDimAttrName));
    else if (auto storage = dyn_cast<dist::StorageAttr>(persistent.getBinding())) {
      std::vector<std::string> axes;
      for (StringAttr axis : storage.getAxes())
        axes.push_back(axis.str());
      for (dist::MemberAttr member : storage.getMembers())
        collector.add(cast<ArgAttr>(member.getBinding()), member.getTensorType(),
                      member.getLayout(), axes);
    }
  }
}

static void collectSignatures(ModuleOp module, Collector &collector) {
  for (StringRef name : {"step", "eval", "infer"}) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      continue;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (ArgAttr arg = nn::getArg(function, i))
        collector.add(
            arg, cast<RankedTensorType>(type),
            function.getArgAttrOfType<dist::LayoutAttr>(i, dist::DistDialect::kLayoutAttrName));
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (nn::ResultAttr result = nn::getResult(function, i))
        collector.add(
            result, cast<RankedTensorType>(type),
            function.getResultAttrOfType<dist::LayoutAttr>(i, dist::DistDialect::kLayoutAttrName),
            function.getResultAttrOfType<IntegerAttr>(i, nn::kBatchDimAttrName));
  }
}

std::vector<BoundaryTensor> dpc::boundaryOf(ModuleOp module) {
  Collector collector(module);
  for (dist::RankProgram program : dist::programsOf(module))
    if (program.module.getOps<PersistentOp>().empty())
      collectSignatures(program.module, collector);
    else
      collectResidents(program.module, collector);
  return std::move(collector.tensors);
}
