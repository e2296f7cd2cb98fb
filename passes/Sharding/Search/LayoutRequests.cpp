// Reads the requests (`dist.request`) for layouts of single values.

#include "passes/Sharding/Search/LayoutRequests.h"

#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

ArrayAttr dpc::requestAttr(MLIRContext *context, ArrayRef<AxisNames> dims) {
  Builder builder(context);
  SmallVector<Attribute> entries;
  for (const AxisNames &axes : dims) {
    SmallVector<StringRef> names(axes.begin(), axes.end());
    entries.push_back(builder.getStrArrayAttr(names));
  }
  return builder.getArrayAttr(entries);
}

static RequestedAxes axesOf(ArrayAttr attr) {
  RequestedAxes dims;
  for (ArrayAttr entry : attr.getAsRange<ArrayAttr>()) {
    dims.emplace_back();
    for (StringAttr axis : entry.getAsRange<StringAttr>())
      dims.back().push_back(axis.str());
  }
  return dims;
}

static std::string print(ArrayRef<std::string> axes) {
  return axes.empty() ? "-" : llvm::join(axes, "+");
}

/// Returns why a request does not fit the mesh; nullopt if it fits.
static std::optional<std::string> findDefect(ArrayRef<AxisNames> dims, const MeshShape &mesh) {
  SmallVector<StringRef> used;
  for (const AxisNames &axes : dims)
    for (const std::string &axis : axes) {
      std::optional<unsigned> index = mesh.axisIndex(axis);
      if (!index)
        return "axis '" + axis + "' is not in the mesh";
      if (mesh.axes[*index].sequential)
        return "axis '" + axis + "' is walked by a loop and cuts the batch alone";
      if (llvm::is_contained(used, axis))
        return "axis '" + axis + "' is given twice";
      used.push_back(axis);
    }
  return std::nullopt;
}

/// Returns why the requested axes do not fit the batch dimension; nullopt if they fit. The host
/// delivers the batch sharded over `batchAxes`, in this order.
static std::optional<std::string> findBatchDefect(ArrayRef<AxisNames> dims, int64_t batch,
                                                  const MeshShape &mesh,
                                                  ArrayRef<std::string> batchAxes) {
  AxisNames cutting;
  for (const std::string &axis : batchAxes)
    if (std::optional<unsigned> index = mesh.axisIndex(axis);
        index && !mesh.axes[*index].sequential && mesh.axes[*index].size > 1)
      cutting.push_back(axis);
  if (batch < 0)
    return std::nullopt;
  AxisNames wanted = dims[batch];
  llvm::erase_if(wanted, [&](StringRef axis) { return mesh.axisSize(axis) == 1; });
  if (wanted != cutting)
    return ("dimension " + Twine(batch) + " is the batch, which is cut over " + print(cutting) +
            ", not " + print(wanted))
        .str();
  return std::nullopt;
}

FailureOr<std::vector<LayoutRequest>>
dpc::readRequests(func::FuncOp function, const MeshShape &mesh, ArrayRef<std::string> batchAxes) {
  std::vector<LayoutRequest> requests;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto attr = function.getArgAttrOfType<ArrayAttr>(i, DistDialect::kRequestAttrName);
    nn::ArgAttr arg = nn::getArg(function, i);
    if (!attr || !arg)
      continue;
    RequestedAxes dims = axesOf(attr);
    std::optional<std::string> defect = findDefect(dims, mesh);
    if (!defect && !nn::isState(arg.getKind()))
      defect = findBatchDefect(dims, arg.getBatch(), mesh, batchAxes);
    if (defect)
      return function.emitError("shard of '") << arg.getName().str() << "': " << *defect;
    requests.push_back({function.getArgument(i), std::move(dims)});
  }
  WalkResult walked = function.walk([&](Operation *op) {
    auto attr = op->getAttrOfType<ArrayAttr>(DistDialect::kRequestAttrName);
    if (!attr)
      return WalkResult::advance();
    RequestedAxes dims = axesOf(attr);
    if (std::optional<std::string> defect = findDefect(dims, mesh)) {
      op->emitError("shard of this node: ") << *defect;
      return WalkResult::interrupt();
    }
    requests.push_back({op->getResult(0), std::move(dims)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return requests;
}

void dpc::dropRequests(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, DistDialect::kRequestAttrName);
  function.walk([](Operation *op) { op->removeAttr(DistDialect::kRequestAttrName); });
}

void dpc::cutPlainly(DimLayout &dim, ArrayRef<std::string> axes, const MeshShape &mesh) {
  int64_t devices = 1;
  for (const std::string &axis : axes)
    devices *= mesh.axisSize(axis);
  dim = normalize(dim);
  Factor *chosen = nullptr;
  if (dim.segments.size() == 1)
    for (Factor &factor : dim.segments[0].factors)
      if (!chosen && factor.axes.empty() && factor.size >= devices)
        chosen = &factor;
  if (!chosen) {
    dim = DimLayout::replicated(dim.extent());
    chosen = &dim.segments[0].factors[0];
  }
  chosen->axes.append(axes.begin(), axes.end());
}
