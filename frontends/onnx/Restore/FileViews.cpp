// Finds the tensors of the ONNX file that contain the parameters of a restored model.

#include "frontends/onnx/Restore/FileViews.h"

#include "llvm/ADT/STLExtras.h"

namespace dpc::onnx {
namespace {

using Dims = llvm::SmallVector<unsigned>;

/// Tracks the memory order of a tensor's dimensions through steps that permute and
/// regroup them. A current dimension is a list of dimensions of the original tensor, from
/// the slowest to the fastest.
class DimensionOrder {
public:
  explicit DimensionOrder(llvm::ArrayRef<int64_t> shape) : extents(shape) {
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      present.push_back({dim});
  }

  /// Permutes the current dimensions. False if a current dimension is unknown.
  bool transpose(llvm::ArrayRef<int64_t> permutation) {
    if (!isKnown || permutation.size() != present.size())
      return false;
    std::vector<Dims> moved;
    for (int64_t dim : permutation)
      moved.push_back(present[dim]);
    present = std::move(moved);
    return true;
  }

  /// Regroups the dimensions; the elements keep their order in memory. If a new dimension
  /// does not consist of complete dimensions of the original tensor, the new dimensions
  /// are unknown. This matters only for a later transpose, which then fails.
  void reshape(llvm::ArrayRef<int64_t> shape) {
    Dims flat = order();
    present.clear();
    unsigned next = 0;
    for (int64_t extent : shape) {
      Dims group;
      int64_t product = 1;
      while (product < extent && next < flat.size()) {
        product *= extents[flat[next]];
        group.push_back(flat[next++]);
      }
      isKnown &= product == extent;
      present.push_back(std::move(group));
    }
    // The remaining dimensions have extent 1; otherwise the grouping above is
    // wrong.
    for (; next < flat.size(); ++next) {
      isKnown &= extents[flat[next]] == 1;
      if (present.empty())
        present.emplace_back();
      present.back().push_back(flat[next]);
    }
  }

  /// The original dimensions from the slowest to the fastest.
  Dims order() const {
    Dims flat;
    for (const Dims &group : present)
      flat.append(group.begin(), group.end());
    return flat;
  }

private:
  llvm::ArrayRef<int64_t> extents;
  std::vector<Dims> present;
  bool isKnown = true;
};

} // namespace

nn::FileTensor viewOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<DerivationStep> steps,
                      const Initializer &inFile) {
  nn::FileTensor view;
  view.name = inFile.name;
  view.shape.assign(inFile.tensor.shape.begin(), inFile.tensor.shape.end());
  DimensionOrder dims(shape);
  for (const DerivationStep &step : steps) {
    bool isWhole = true;
    switch (step.kind) {
    case DerivationStep::Kind::Transpose:
      isWhole = dims.transpose(step.dims);
      break;
    case DerivationStep::Kind::Reshape:
      dims.reshape(step.dims);
      break;
    case DerivationStep::Kind::Add:
      view.shift += step.addend;
      break;
    case DerivationStep::Kind::Expand:
    case DerivationStep::Kind::Gather:
    case DerivationStep::Kind::Slice:
      isWhole = false;
      break;
    }
    if (!isWhole) {
      view.holds = nn::FileTensor::Holds::part;
      return view;
    }
  }
  view.strides.resize(shape.size());
  int64_t stride = 1;
  const Dims order = dims.order(); // a named variable, because llvm::reverse keeps only a reference
  for (unsigned dim : llvm::reverse(order)) {
    view.strides[dim] = stride;
    stride *= shape[dim];
  }
  return view;
}

std::vector<std::vector<nn::FileTensor>> findFileViews(const RestorationPlan &plan,
                                                       const Graph &graph) {
  std::vector<std::vector<nn::FileTensor>> views(plan.tensors.size());
  auto add = [&](size_t tensor, const Initializer &inFile, llvm::ArrayRef<DerivationStep> steps) {
    for (const nn::FileTensor &known : views[tensor])
      if (known.name == inFile.name)
        return;
    views[tensor].push_back(viewOf(plan.tensors[tensor].value.shape, steps, inFile));
  };
  for (auto [i, tensor] : llvm::enumerate(plan.tensors))
    for (const Initializer &initializer : graph.initializers)
      if (tensor.isInFile && initializer.name == tensor.name)
        add(i, initializer, {});
  for (const RestoredUse &use : plan.uses)
    if (const Initializer *was = graph.initializerOf(use.was))
      add(use.tensor, *was, use.steps);
  for (const JoinedUse &use : plan.joinedUses)
    if (const Initializer *was = graph.initializerOf(use.was))
      for (size_t tensor : use.tensors)
        if (llvm::none_of(views[tensor],
                          [&](const nn::FileTensor &known) { return known.name == was->name; })) {
          nn::FileTensor rows;
          rows.name = was->name;
          rows.shape.assign(was->tensor.shape.begin(), was->tensor.shape.end());
          rows.holds = nn::FileTensor::Holds::part;
          views[tensor].push_back(std::move(rows));
        }
  for (const RestoredNode &copy : plan.nodes)
    for (auto [operand, tensor] : copy.operands)
      if (const Initializer *was = graph.initializerOf(graph.nodes[copy.node].input(operand)))
        add(tensor, *was, {});
  for (auto [i, tensor] : llvm::enumerate(plan.tensors))
    if (views[i].empty()) {
      nn::FileTensor dropped;
      dropped.name = tensor.name;
      dropped.holds = nn::FileTensor::Holds::nothing;
      views[i].push_back(std::move(dropped));
    }
  return views;
}

} // namespace dpc::onnx
