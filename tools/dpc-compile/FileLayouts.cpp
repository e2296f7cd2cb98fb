// Layouts in ONNX files: reads the layouts that a model's file requests, and collects the
// layouts that a saved model states.

#include "tools/dpc-compile/FileLayouts.h"

#include "frontends/onnx/Model/PipelineStages.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Returns the text of a request (see dpc-annotate-layouts), such as "-;data". If a
/// dimension is a product of factors, returns the text of the full layout instead, because a
/// request cannot say which factor an axis cuts.
static std::string requestOf(const onnx::SpecLayout &layout) {
  Layout full;
  bool isProduct = false;
  std::vector<std::string> entries;
  for (const auto &dim : layout) {
    isProduct |= dim.size() > 1;
    AxisNames axes;
    Segment segment;
    for (const onnx::SpecFactor &factor : dim) {
      segment.factors.emplace_back(std::max<int64_t>(1, factor.size),
                                   AxisNames(factor.axes.begin(), factor.axes.end()));
      axes.append(factor.axes.begin(), factor.axes.end());
    }
    full.dims.emplace_back().segments.push_back(std::move(segment));
    entries.push_back(axes.empty() ? "-" : llvm::join(axes, "+"));
  }
  return isProduct ? toString(full) : llvm::join(entries, ";");
}

/// The pattern that only `name` matches.
static std::string asPattern(StringRef name) {
  std::string pattern;
  for (char letter : name) {
    if (StringRef("*?[]{}!^\\").contains(letter))
      pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

llvm::Error dpc::addFileLayouts(const onnx::OnnxModel &source, ProgramPlan &plan,
                                llvm::raw_ostream &notes) {
  std::vector<onnx::SpecAxis> mesh;
  for (const PlanAxis &axis : plan.mesh)
    mesh.push_back({axis.name, axis.size});
  auto layouts = onnx::readShardingSpecs(source, mesh, notes);
  if (!layouts)
    return layouts.takeError();
  for (const auto &[name, layout] : *layouts)
    plan.fileLayouts.push_back(name + "=" + requestOf(layout));
  if (!layouts->empty() && !plan.layouts.empty())
    notes << "note: --shard comes before the layouts in the file\n";

  if (plan.stages() > 1 && plan.cutBytes == 0) {
    auto starts = onnx::readPipelineStages(source, mesh, plan.stages() * plan.chunksPerStage);
    if (!starts) {
      if (plan.cutNodes.empty())
        return starts.takeError();
      llvm::consumeError(starts.takeError());
    } else if (plan.cutNodes.empty()) {
      for (const std::string &start : *starts)
        plan.cutNodes.push_back(asPattern(start));
    } else if (!starts->empty()) {
      notes << "note: --stages comes before the pipeline stages in the file\n";
    }
  }

  const std::map<std::string, std::string> makers = onnx::findMakers(source);
  for (std::string &shard : plan.layouts) {
    auto [name, entries] = StringRef(shard).rsplit('=');
    if (auto maker = makers.find(name.str()); maker != makers.end())
      shard = maker->second + "=" + entries.str();
  }
  return llvm::Error::success();
}

/// If `dim` is a dimension of state and has a single segment (one product of factors),
/// returns these factors. Otherwise returns one factor of the dimension's extent, with all
/// axes that cut the dimension.
static std::vector<onnx::SpecFactor> factorsOf(DimLayout dim, bool isState) {
  std::vector<onnx::SpecFactor> factors;
  if (isState && dim.segments.size() == 1)
    for (const Factor &factor : dim.segments[0].factors)
      factors.push_back({factor.size, {factor.axes.begin(), factor.axes.end()}});
  else
    factors.push_back({dim.extent(), shardedAxes(dim)});
  return factors;
}

onnx::SpecPlan dpc::collectPlan(ModuleOp module) {
  onnx::SpecPlan plan;
  for (auto mesh : module.getOps<MeshOp>())
    for (const MeshAxis &axis : mesh.getShape().axes)
      if (!axis.sequential)
        plan.mesh.push_back({axis.name, axis.size});
  if (plan.countDevices() == 1)
    return {};
  for (StringRef name : {"step", "infer"}) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i) {
      nn::ArgAttr arg = nn::getArg(function, i);
      auto layout = function.getArgAttrOfType<LayoutAttr>(i, DistDialect::kLayoutAttrName);
      if (!arg || !layout || arg.getKind() == nn::ArgKind::control)
        continue;
      onnx::SpecLayout dims;
      for (const DimLayout &dim : normalize(layout.getLayout()).dims) {
        dims.push_back(factorsOf(dim, nn::isState(arg.getKind())));
        // A loop iterates over a sequential axis, so this axis does not divide the tensor
        // among devices.
        for (onnx::SpecFactor &factor : dims.back())
          llvm::erase_if(factor.axes, [&](StringRef axis) {
            return llvm::none_of(plan.mesh, [&](const auto &each) { return each.name == axis; });
          });
      }
      plan.tensors.try_emplace(arg.getName().str(), std::move(dims));
    }
  }
  return plan;
}
